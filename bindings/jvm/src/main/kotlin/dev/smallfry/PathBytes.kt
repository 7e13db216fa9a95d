package dev.smallfry

import java.io.ByteArrayOutputStream
import java.net.URI
import java.nio.charset.StandardCharsets
import java.nio.file.FileSystems
import java.nio.file.InvalidPathException
import java.nio.file.Path
import java.nio.file.ProviderMismatchException

/**
 * Converts paths for the native half: to the system's bytes on Unix, to UTF-8 on Windows.
 *
 * A [Path] does not show its bytes. Its string is exact if file names are UTF-8 here
 * (`sun.jnu.encoding`) and nothing in it was replaced. Otherwise its URI is exact, which has every
 * byte escaped.
 */
internal object PathBytes {
    private val system = FileSystems.getDefault()
    private val isUnix: Boolean = system.separator == "/"
    private val namesAreUtf8 = !isUnix || System.getProperty("sun.jnu.encoding").equals("UTF-8", ignoreCase = true)

    private const val REPLACEMENT = '\uFFFD'

    /**
     * Converts a path, made absolute by Java's rules: `user.dir` need not be the process's own
     * directory.
     */
    fun of(path: Path): ByteArray {
        check(path)
        return bytes(if (path.isAbsolute) path else path.toAbsolutePath())
    }

    /** Converts a path beneath some directory, as it is. */
    fun asIs(path: Path): ByteArray {
        check(path)
        return bytes(path)
    }

    /** Converts many paths as [of] does, and ends each with a zero. */
    fun ofAll(paths: Iterable<Path>): ByteArray = ended(paths.map(::of))

    /** Ends each text with a zero. */
    fun ended(texts: Iterable<ByteArray>): ByteArray {
        val bytes = ByteArrayOutputStream()
        for (text in texts) {
            bytes.write(text)
            bytes.write(0)
        }
        return bytes.toByteArray()
    }

    /** Converts a relative path of the native half back. */
    fun toPath(bytes: ByteArray): Path {
        val text = String(bytes, Charsets.UTF_8)
        return if (isExact(text)) Path.of(text) else exact(bytes)
    }

    /** Tells whether a text is a relative path without empty names, `.` and `..`. */
    fun isBeneath(text: String): Boolean {
        val names = if (isUnix) text.split('/') else text.split('/', '\\')
        val hasDrive = !isUnix && ':' in text
        return names.none { it in setOf("", ".", "..") } && '\u0000' !in text && !hasDrive
    }

    /** Tells whether these are the bytes of a path, absolute or as it is. */
    fun areOf(bytes: ByteArray, path: Path): Boolean = bytes.contentEquals(of(path)) || bytes.contentEquals(asIs(path))

    private fun check(path: Path) {
        if (path.fileSystem !== system) {
            throw ProviderMismatchException("$path is in ${path.fileSystem}, and smallfry works on the default file system only")
        }
    }

    private fun bytes(path: Path): ByteArray {
        val text = path.toString()
        if (!isUnix) {
            if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) throw InvalidPathException(text, "Malformed UTF-16")
            return text.toByteArray()
        }
        return if (isExact(text)) text.toByteArray() else exact(path)
    }

    /** Tells whether a path and this text of it stand for the same bytes. */
    private fun isExact(text: String): Boolean =
        !isUnix || if (namesAreUtf8) REPLACEMENT !in text else text.all { it.code < 0x80 }

    private fun exact(path: Path): ByteArray {
        if (path.isAbsolute) return unescaped(path.toUri())
        val root = unescaped(Path.of("").toUri())
        val whole = unescaped(path.toUri())
        return whole.copyOfRange(root.size + if (root.last() == SEPARATOR) 0 else 1, whole.size)
    }

    private fun exact(bytes: ByteArray): Path {
        val escaped = bytes.joinToString("") { if (it == SEPARATOR) "/" else "%%%02X".format(it) }
        val root = Path.of("/")
        return root.relativize(Path.of(URI("file:///$escaped")))
    }

    private const val SEPARATOR = '/'.code.toByte()

    private fun unescaped(uri: URI): ByteArray {
        val text = uri.rawPath
        val bytes = ByteArray(text.length)
        var (from, length) = 0 to 0
        while (from < text.length) {
            val isEscaped = text[from] == '%'
            bytes[length++] = (if (isEscaped) text.substring(from + 1, from + 3).toInt(16) else text[from].code).toByte()
            from += if (isEscaped) 3 else 1
        }
        // The URI of a directory ends in a slash that does not belong to the path.
        if (length > 1 && bytes[length - 1] == SEPARATOR) length--
        return bytes.copyOf(length)
    }
}
