package dev.smallfry.bench

import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import java.nio.file.Files

/** The scenario `write-many`. The counterpart of `write_many/native.rs`: same bytes. */
fun writeMany(functions: String, request: ManyRequest): Times {
    val write = manyWriterOf(functions, request)
    warmUp { directory ->
        val few = contentsOf(List(FILES_TO_COMPILE) { directory.resolve("$it") }, request)
        compile(PASSES_TO_COMPILE) { write(few) }
    }
    return timed(request, write)
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
