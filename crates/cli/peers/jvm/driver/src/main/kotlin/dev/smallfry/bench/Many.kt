package dev.smallfry.bench

import dev.smallfry.Durability
import dev.smallfry.FileEntry
import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import java.io.FileInputStream
import java.io.UncheckedIOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.READ
import okio.FileSystem
import okio.Path.Companion.toOkioPath

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

/** The scenario `read-many`: all is kept, then looked at. The counterpart of `native/read_many.rs`. */
fun readMany(functions: String, request: ManyRequest): Times {
    val read = readerOf(functions, request)
    warmUp { directory ->
        val few = List(FILES_TO_COMPILE) { directory.resolve("$it") }
        few.forEach { Files.write(it, ByteArray(BYTES_TO_COMPILE) { ' '.code.toByte() }) }
        compile(PASSES_TO_COMPILE) { look(read(few + few)) }
    }
    val paths = request.layout.paths()
    settle()
    val meter = Meter()
    val all = read(paths)
    val looked = look(all)
    val usage = meter.stop()
    check(looked == -paths.size.toLong()) { "a zero was found, and there is none" }
    if (request.compare) compare(paths, all)
    return Times(all.size, all.sumOf { (if (it is String) it.length else (it as ByteArray).size).toLong() }, usage)
}

private fun look(all: List<Any>): Long {
    var looked = 0L
    for (contents in all) looked += if (contents is String) contents.indexOf('\u0000') else (contents as ByteArray).indexOf(0)
    return looked
}

private const val FILES_TO_COMPILE = 2_000
private const val BYTES_TO_COMPILE = 10_000
private const val PASSES_TO_COMPILE = 30

private fun compare(paths: List<Path>, all: List<Any>) = paths.forEachIndexed { index, path ->
    val found = all[index].let { if (it is String) it.toByteArray() else it as ByteArray }
    check(found.contentEquals(Files.readAllBytes(path))) { "read $path wrongly" }
}

private fun readerOf(functions: String, request: ManyRequest): (List<Path>) -> List<Any> {
    val text = request.data == "string"
    val one: (Path) -> Any = when (functions) {
        "java-files" -> if (text) Files::readString else Files::readAllBytes
        "kotlin-file" -> if (text) { path -> path.toFile().readText() } else { path -> path.toFile().readBytes() }
        "java-stream" -> { path -> FileInputStream(path.toFile()).use { it.readAllBytes() }.let { if (text) String(it) else it } }
        "java-channel" -> { path -> channel(path).let { if (text) String(it) else it } }
        "okio" -> { path -> FileSystem.SYSTEM.read(path.toOkioPath()) { if (text) readUtf8() else readByteArray() } }
        "smallfry" -> return if (text) { paths -> Smallfry.readAllText(paths).map { it.value } } else { paths -> Smallfry.readAll(paths).map { it.value } }
        else -> throw UnsupportedOperationException("no functions $functions here")
    }
    if (request.style == "parallel") return { paths -> paths.parallelStream().map { unchecked { one(it) } }.toList() }
    return { paths -> paths.map(one) }
}

private fun <T> unchecked(body: () -> T): T = try {
    body()
} catch (error: java.io.IOException) {
    throw UncheckedIOException(error)
}

private fun channel(path: Path): ByteArray = FileChannel.open(path, READ).use { channel ->
    val bytes = ByteBuffer.allocate(channel.size().toInt())
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) Unit
    bytes.array()
}

/** The scenario `write-many`. The counterpart of `native/write_many.rs`: same bytes. */
fun writeMany(functions: String, request: ManyRequest): Times {
    val write = manyWriterOf(functions, request)
    warmUp { directory ->
        val few = contentsOf(List(FILES_TO_COMPILE) { directory.resolve("$it") }, request)
        compile(PASSES_TO_COMPILE) { write(few) }
    }
    return timed(request, write)
}

private fun timed(request: ManyRequest, write: (List<FileOf>) -> Unit): Times {
    val all = contentsOf(request.layout.paths(), request)
    settle()
    val meter = Meter()
    write(all)
    return Times(all.size, all.size.toLong() * request.bytes, meter.stop())
}

class FileOf(val path: Path, val text: String, val bytes: ByteArray?)

/** A line again and again. */
private fun contentsOf(paths: List<Path>, request: ManyRequest): List<FileOf> = paths.mapIndexed { index, path ->
    val line = "$index: smallfry writes many small files.\n"
    val text = line.repeat(request.bytes / line.length + 1).substring(0, request.bytes)
    FileOf(path, text, if (request.data == "buffer") text.toByteArray() else null)
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

fun writeAll(all: List<FileOf>, options: WriteOptions) {
    val entries = all.map { if (it.bytes != null) FileEntry(it.path, it.bytes) else FileEntry(it.path, it.text) }
    Smallfry.writeAll(entries, options).throwIfAnyFailed()
}

/** The scenario `sync-many`. The counterpart of `native/sync_many.rs`. */
fun syncMany(functions: String, request: ManyRequest): Times {
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

/** One by one: the file flushed, named, and its directory flushed, before the next one. */
fun writeEach(file: FileOf, replace: Boolean) {
    val temporary = if (replace) file.path.resolveSibling("${file.path.fileName}.tmp") else file.path
    writerOf("java-channel", temporary, "full", false)(file.text)
    if (replace) Files.move(temporary, file.path, ATOMIC_MOVE)
    FileChannel.open(file.path.parent, READ).use { it.force(true) }
}
