package dev.smallfry.bench

import dev.smallfry.FileEntry
import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import java.io.UncheckedIOException
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.READ

// The functions that the scenarios of many files share.

class Layout(val directory: String, val directories: Int, val files: Int, val name: String) {
    fun paths(): List<Path> = List(files) { index ->
        val where = if (directories > 0) "$directory/${digits(index % directories, 4)}" else directory
        Path.of("$where/$name${digits(index, 7)}")
    }

    private fun digits(number: Int, count: Int) = number.toString().padStart(count, '0')
}

class ManyRequest(
    val style: String,
    val data: String?,
    val layout: Layout,
    val bytes: Int,
    val replace: Boolean,
    val compare: Boolean,
)

const val FILES_TO_COMPILE = 2_000
const val BYTES_TO_COMPILE = 10_000
const val PASSES_TO_COMPILE = 30

fun <T> unchecked(body: () -> T): T = try {
    body()
} catch (error: java.io.IOException) {
    throw UncheckedIOException(error)
}

/** Measures the writing of all files, after the same was written in memory and compiled. */
fun timed(request: ManyRequest, write: (List<FileOf>) -> Unit): Times {
    warmUp { directory ->
        val few = contentsOf(List(FILES_TO_COMPILE) { directory.resolve("$it") }, request)
        compile(PASSES_TO_COMPILE) { write(few) }
    }
    val all = contentsOf(request.layout.paths(), request)
    collectGarbage()
    val meter = Meter()
    write(all)
    return Times(all.size, all.size.toLong() * request.bytes, meter.stop())
}

class FileOf(val path: Path, val text: String, val bytes: ByteArray?)

/** Returns the contents of each file: one line, repeated. */
fun contentsOf(paths: List<Path>, request: ManyRequest): List<FileOf> = paths.mapIndexed { index, path ->
    val line = "$index: smallfry writes many small files.\n"
    val text = line.repeat(request.bytes / line.length + 1).substring(0, request.bytes)
    FileOf(path, text, if (request.data == "buffer") text.toByteArray() else null)
}

fun writeAll(all: List<FileOf>, options: WriteOptions) {
    val entries = all.map { if (it.bytes != null) FileEntry(it.path, it.bytes) else FileEntry(it.path, it.text) }
    Smallfry.writeAll(entries, options).throwIfAnyFailed()
}

/** Flushes and names the file, and flushes its directory. */
fun writeEach(file: FileOf, replace: Boolean) {
    writeFlushed(file, replace)
    flushDirectory(file.path.parent)
}

/** Flushes and names the file. */
fun writeFlushed(file: FileOf, replace: Boolean) {
    val temporary = if (replace) file.path.resolveSibling("${file.path.fileName}.tmp") else file.path
    writerOf("java-channel", temporary, "full", false)(file.text)
    if (replace) Files.move(temporary, file.path, ATOMIC_MOVE)
}

fun flushDirectory(directory: Path) = FileChannel.open(directory, READ).use { it.force(true) }
