package dev.smallfry.bench.fsyncmany

import dev.smallfry.Durability
import dev.smallfry.WriteOptions
import dev.smallfry.bench.FileOf
import dev.smallfry.bench.ManyRequest
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.flushDirectory
import dev.smallfry.bench.timed
import dev.smallfry.bench.writeAll
import dev.smallfry.bench.writeEach
import dev.smallfry.bench.writeFlushed
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import kotlin.math.min

/** As in native.rs. */
private const val MAX_THREADS = 128

/** The counterpart of native.rs. */
object Driver : Scenario<ManyRequest>(ManyRequest::class.java) {
    override fun run(functions: String, request: ManyRequest): Times = timed(request, durableWriterOf(functions, request))
}

private fun durableWriterOf(functions: String, request: ManyRequest): (List<FileOf>) -> Unit {
    val replace = request.replace
    if (functions == "smallfry") {
        val options = WriteOptions(durability = Durability.Full, replace = replace)
        return { all -> writeAll(all, options) }
    }
    if (request.style == "parallel") return { all -> writeConcurrently(all, replace) }
    return { all -> all.forEach { writeEach(it, replace) } }
}

/** Flushes and names all files at once, then flushes each directory once. */
private fun writeConcurrently(all: List<FileOf>, replace: Boolean) {
    val pool = Executors.newFixedThreadPool(min(all.size, MAX_THREADS))
    try {
        pool.invokeAll(all.map { Callable { writeFlushed(it, replace) } }).forEach { it.get() }
        val directories = all.map { it.path.parent }.distinct()
        pool.invokeAll(directories.map { Callable { flushDirectory(it) } }).forEach { it.get() }
    } finally {
        pool.shutdown()
    }
}
