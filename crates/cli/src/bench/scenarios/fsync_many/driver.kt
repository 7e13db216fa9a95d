package dev.smallfry.bench.fsyncmany

import dev.smallfry.Durability
import dev.smallfry.WriteOptions
import dev.smallfry.bench.FILES_TO_COMPILE
import dev.smallfry.bench.FileOf
import dev.smallfry.bench.ManyRequest
import dev.smallfry.bench.PASSES_TO_COMPILE
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.compile
import dev.smallfry.bench.contentsOf
import dev.smallfry.bench.timed
import dev.smallfry.bench.warmUp
import dev.smallfry.bench.writeAll
import dev.smallfry.bench.writeEach

/** The counterpart of native.rs. */
object Driver : Scenario<ManyRequest>(ManyRequest::class.java) {
    override fun run(functions: String, request: ManyRequest): Times {
        val write = durableWriterOf(functions, request.replace)
        warmUp { directory ->
            val few = contentsOf(List(FILES_TO_COMPILE) { directory.resolve("$it") }, request)
            compile(PASSES_TO_COMPILE) { write(few) }
        }
        return timed(request, write)
    }
}

private fun durableWriterOf(functions: String, replace: Boolean): (List<FileOf>) -> Unit {
    if (functions != "smallfry") return { all -> all.forEach { writeEach(it, replace) } }
    val options = WriteOptions(durability = Durability.Full, replace = replace)
    return { all -> writeAll(all, options) }
}
