package dev.smallfry.bench.readmany

import dev.smallfry.Smallfry
import dev.smallfry.bench.BYTES_TO_COMPILE
import dev.smallfry.bench.FILES_TO_COMPILE
import dev.smallfry.bench.ManyRequest
import dev.smallfry.bench.Meter
import dev.smallfry.bench.PASSES_TO_COMPILE
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.collectGarbage
import dev.smallfry.bench.compile
import dev.smallfry.bench.unchecked
import dev.smallfry.bench.warmUp
import java.io.FileInputStream
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ
import okio.FileSystem
import okio.Path.Companion.toOkioPath

/** The counterpart of native.rs: keeps all contents, then looks at them. */
object Driver : Scenario<ManyRequest>(ManyRequest::class.java) {
    override fun run(functions: String, request: ManyRequest): Times {
        val read = readerOf(functions, request)
        warmUp { directory ->
            val few = List(FILES_TO_COMPILE) { directory.resolve("$it") }
            few.forEach { Files.write(it, ByteArray(BYTES_TO_COMPILE) { ' '.code.toByte() }) }
            compile(PASSES_TO_COMPILE) { look(read(few + few)) }
        }
        val paths = request.layout.paths()
        collectGarbage()
        val meter = Meter()
        val all = read(paths)
        val looked = look(all)
        val usage = meter.stop()
        check(looked == -paths.size.toLong()) { "a zero was found, and there is none" }
        if (request.compare) compare(paths, all)
        return Times(all.size, all.sumOf { (if (it is String) it.length else (it as ByteArray).size).toLong() }, usage)
    }
}

private fun look(all: List<Any>): Long {
    var looked = 0L
    for (contents in all) looked += if (contents is String) contents.indexOf('\u0000') else (contents as ByteArray).indexOf(0)
    return looked
}

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

private fun channel(path: Path): ByteArray = FileChannel.open(path, READ).use { channel ->
    val bytes = ByteBuffer.allocate(channel.size().toInt())
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) Unit
    bytes.array()
}
