package dev.smallfry.bench

import dev.smallfry.Durability
import dev.smallfry.Smallfry
import java.io.File
import java.io.FileOutputStream
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.TRUNCATE_EXISTING
import java.nio.file.StandardOpenOption.WRITE
import okio.FileSystem
import okio.Path.Companion.toOkioPath
import okio.buffer

/** Returns a function that writes a text into one file, and flushes it if `level` says so. */
fun writerOf(functions: String, path: Path, level: String, replace: Boolean): (String) -> Unit {
    val file = path.toFile()
    val synced = level != "none"
    return when (functions) {
        "java-stream" -> { text -> stream(file, text, synced) }
        "kotlin-file" -> { text -> file.writeText(text) }
        "java-files" -> { text -> Files.writeString(path, text) }
        "java-channel" -> { text -> channel(path, text, synced) }
        "okio" -> if (synced) okioSynced(path) else okio(path)
        "smallfry" -> {
            val durability = when (level) {
                "none" -> Durability.None
                "data" -> Durability.Data
                else -> Durability.Full
            }
            { text -> Smallfry.writeText(path, text, durability, replace) }
        }
        else -> throw UnsupportedOperationException("no functions $functions here")
    }
}

private fun stream(file: File, text: String, synced: Boolean) = FileOutputStream(file).use { stream ->
    stream.write(text.toByteArray())
    if (synced) stream.fd.sync()
}

private fun channel(path: Path, text: String, synced: Boolean) =
    FileChannel.open(path, CREATE, WRITE, TRUNCATE_EXISTING).use { channel ->
        val bytes = ByteBuffer.wrap(text.toByteArray())
        while (bytes.hasRemaining()) channel.write(bytes)
        if (synced) channel.force(false)
    }

private fun okio(path: Path): (String) -> Unit {
    val target = path.toOkioPath()
    return { text -> FileSystem.SYSTEM.write(target) { writeUtf8(text) } }
}

private fun okioSynced(path: Path): (String) -> Unit {
    val target = path.toOkioPath()
    return { text ->
        FileSystem.SYSTEM.openReadWrite(target).use { handle ->
            handle.resize(0)
            handle.sink().buffer().use { it.writeUtf8(text) }
            handle.flush()
        }
    }
}
