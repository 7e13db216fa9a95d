package dev.smallfry

import java.nio.ByteBuffer
import java.nio.file.AccessDeniedException
import java.nio.file.DirectoryNotEmptyException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.NoSuchFileException
import java.nio.file.Path

/**
 * Says that a file of a bulk call was not begun: the call was interrupted or closed, or an earlier
 * error stopped it. Nothing is wrong with the file.
 */
public class NotBegunException internal constructor(file: String, reason: String) : FileSystemException(file, null, reason)

/** Makes exceptions of java.nio from errors of the native half. */
internal object Failure {
    private const val NOT_FOUND = 1
    private const val ALREADY_EXISTS = 2
    private const val ACCESS_DENIED = 3
    private const val NOT_EMPTY = 4
    private const val NOT_BEGUN = 5

    /**
     * Reads an error that `results.rs` has written. If it is about one of [given], the exception
     * names that path as the caller did. An error without a path is about the first of them.
     */
    fun read(from: ByteBuffer, vararg given: Path?): FileSystemException {
        val kind = from.get().toInt()
        val operation = text(from)
        val reason = "$operation: ${text(from)}"
        val path = bytes(from)
        val other = bytes(from).takeIf { it.isNotEmpty() }?.let { named(it, given) }
        val file = if (path.isEmpty() && given.isNotEmpty()) "${given[0] ?: ""}" else named(path, given)
        return when (kind) {
            NOT_FOUND -> NoSuchFileException(file, other, reason)
            ALREADY_EXISTS -> FileAlreadyExistsException(file, other, reason)
            ACCESS_DENIED -> AccessDeniedException(file, other, reason)
            NOT_EMPTY -> DirectoryNotEmptyException(file)
            NOT_BEGUN -> NotBegunException(file, reason)
            else -> FileSystemException(file, other, reason)
        }
    }

    fun read(bytes: ByteArray, given: Path?): FileSystemException = read(native(bytes), given)

    fun notBegun(path: Path, operation: String): NotBegunException =
        NotBegunException(path.toString(), "$operation: cancelled before it began")

    fun native(bytes: ByteArray): ByteBuffer = ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.nativeOrder())

    private fun named(path: ByteArray, given: Array<out Path?>): String {
        val isIt = given.firstOrNull { it != null && PathBytes.areOf(path, it) }
        return isIt?.toString() ?: String(path, Charsets.UTF_8)
    }

    /** Reads a text that `results.rs` has written. */
    fun text(from: ByteBuffer): String = String(bytes(from), Charsets.UTF_8)

    private fun bytes(from: ByteBuffer): ByteArray = ByteArray(from.int).also(from::get)
}
