package dev.smallfry.bench.fsyncmany

import dev.smallfry.Durability
import dev.smallfry.WriteOptions
import dev.smallfry.bench.FileOf
import dev.smallfry.bench.ManyRequest
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.timed
import dev.smallfry.bench.writeAll
import dev.smallfry.bench.writeEach

/** The counterpart of native.rs. */
object Driver : Scenario<ManyRequest>(ManyRequest::class.java) {
    override fun run(functions: String, request: ManyRequest): Times = timed(request, durableWriterOf(functions, request.replace))
}

private fun durableWriterOf(functions: String, replace: Boolean): (List<FileOf>) -> Unit {
    if (functions != "smallfry") return { all -> all.forEach { writeEach(it, replace) } }
    val options = WriteOptions(durability = Durability.Full, replace = replace)
    return { all -> writeAll(all, options) }
}
