import dev.smallfry.Durability
import dev.smallfry.FileEntry
import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.security.MessageDigest
import java.util.HexFormat

/**
 * A store of small values, each in a file of its own.
 *
 * A value is old or new, and never half of either, whenever the power fails or the process is
 * killed. Once `put` has returned, it is new. Many values cost about as many waits for the disk as
 * one.
 *
 * A file is named by the digest of its key, so that any text can be a key, and begins with the key.
 */
class Store(private val directory: Path) {
    fun put(key: String, value: ByteArray): Unit = putAll(mapOf(key to value))

    fun putAll(values: Map<String, ByteArray>) {
        val entries = values.map { (key, value) -> FileEntry(fileOf(key), encoded(key, value)) }
        Smallfry.writeAll(entries, WriteOptions(Durability.Full, replace = true, createParents = true)).throwIfAnyFailed()
    }

    /** Returns null if there is no value. */
    operator fun get(key: String): ByteArray? = try {
        val (found, value) = decoded(Files.readAllBytes(fileOf(key)))
        value.takeIf { found == key }
    } catch (_: NoSuchFileException) {
        null
    }

    /** Returns the values of those keys that have one. All files are read in one call. */
    fun getAll(keys: Collection<String>): Map<String, ByteArray> =
        Smallfry.readAll(keys.map(::fileOf)).filterNot { it.error is NoSuchFileException }.associate { decoded(it.value) }

    fun remove(key: String): Boolean = Files.deleteIfExists(fileOf(key))

    /** Returns the keys, in no order. */
    fun keys(): List<String> {
        if (!Files.isDirectory(directory)) return emptyList()
        val files = Files.walk(directory, 2).use { paths ->
            // A temporary file of a killed process begins with a dot.
            paths.filter { Files.isRegularFile(it) && !it.fileName.toString().startsWith(".") }.toList()
        }
        return Smallfry.readAll(files).map { decoded(it.value).first }
    }

    private fun fileOf(key: String): Path {
        val name = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(key.toByteArray()))
        return directory.resolve(name.take(2)).resolve(name)
    }

    private fun encoded(key: String, value: ByteArray): ByteArray {
        val name = key.toByteArray()
        return "${name.size}\n".toByteArray() + name + value
    }

    private fun decoded(bytes: ByteArray): Pair<String, ByteArray> {
        val end = bytes.indexOf('\n'.code.toByte())
        val start = end + 1 + String(bytes, 0, end).toInt()
        return String(bytes, end + 1, start - end - 1) to bytes.copyOfRange(start, bytes.size)
    }
}
