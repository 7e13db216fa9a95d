package dev.smallfry.bench.writemany

import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import dev.smallfry.bench.FileOf
import dev.smallfry.bench.ManyRequest
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.timed
import dev.smallfry.bench.unchecked
import dev.smallfry.bench.writeAll
import dev.smallfry.bench.writerOf
import java.nio.file.Files

/** The counterpart of native.rs: same bytes. */
object Driver : Scenario<ManyRequest>(ManyRequest::class.java) {
    override fun run(functions: String, request: ManyRequest): Times = timed(request, manyWriterOf(functions, request))
}

private fun manyWriterOf(functions: String, request: ManyRequest): (List<FileOf>) -> Unit {
    val isBulk = request.style == "bulk-sync"
    if (functions == "smallfry" && isBulk) return { all -> writeAll(all, WriteOptions()) }
    val one: (FileOf) -> Unit = if (request.data == "buffer") {
        if (functions == "smallfry") { file -> Smallfry.writeBytes(file.path, file.bytes!!) } else { file -> Files.write(file.path, file.bytes!!) }
    } else {
        { file -> writerOf(functions, file.path, "none", false)(file.text) }
    }
    if (request.style == "parallel") return { all -> all.parallelStream().forEach { unchecked { one(it) } } }
    return { all -> all.forEach(one) }
}
