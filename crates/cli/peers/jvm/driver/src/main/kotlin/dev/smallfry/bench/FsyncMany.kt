package dev.smallfry.bench

import dev.smallfry.Durability
import dev.smallfry.WriteOptions

/** The scenario `fsync-many`. The counterpart of `fsync_many/native.rs`. */
fun fsyncMany(functions: String, request: ManyRequest): Times {
    val write = durableWriterOf(functions, request.replace)
    warmUp { directory ->
        val few = contentsOf(List(FILES_TO_COMPILE) { directory.resolve("$it") }, request)
        compile(PASSES_TO_COMPILE) { write(few) }
    }
    return timed(request, write)
}

private fun durableWriterOf(functions: String, replace: Boolean): (List<FileOf>) -> Unit {
    if (functions != "smallfry") return { all -> all.forEach { writeEach(it, replace) } }
    val options = WriteOptions(durability = Durability.Full, replace = replace)
    return { all -> writeAll(all, options) }
}
