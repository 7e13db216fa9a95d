package dev.smallfry

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.file.FileSystemException
import java.nio.file.Path

/** The result of reading or hashing one file of many: its contents or [Digest], or an error. */
public class ReadResult<T> private constructor(
    /** The path as it was given. */
    public val path: Path,
    private val contents: T?,
    /** The error, or null if the file was read. */
    public val error: FileSystemException?,
) {
    /**
     * The contents or the digest.
     *
     * @throws IOException if the file was not read
     */
    @get:Throws(IOException::class)
    public val value: T
        get() {
            if (error != null) throw error
            @Suppress("UNCHECKED_CAST")
            return contents as T
        }

    /** The contents or the digest, or null if the file was not read. */
    public val valueOrNull: T?
        get() = contents

    override fun toString(): String = if (error == null) "$path" else "$error"

    internal companion object {
        fun <T> read(path: Path, contents: T): ReadResult<T> = ReadResult(path, contents, null)

        fun <T> failed(path: Path, error: FileSystemException): ReadResult<T> = ReadResult(path, null, error)
    }
}

/** A file to write: its path and its contents. Text becomes UTF-8, and a lone surrogate `?`. */
public class FileEntry private constructor(
    public val path: Path,
    private val text: CharSequence?,
    private val contents: ByteArray?,
) {
    public constructor(path: Path, text: CharSequence) : this(path, text, null)

    /** The array is read when the entry is taken, not by this constructor. */
    public constructor(path: Path, bytes: ByteArray) : this(path, null, bytes)

    internal fun bytes(): ByteArray = contents ?: text.toString().toByteArray()
}

/** The result of writing one file of many. */
public class WriteResult internal constructor(
    /** The path as it was given. */
    public val path: Path,
    /**
     * True if the file was written. A file that is not written and has no error held the right
     * bytes already.
     */
    public val isWritten: Boolean,
    /** The error, or null if there is none. */
    public val error: FileSystemException?,
) {
    override fun toString(): String = if (error == null) "$path" else "$error"
}

/** The results of writing many files. */
public class WriteReport internal constructor(
    /** One result for each entry, in the order of entries. */
    public val results: List<WriteResult>,
) {
    /** The number of files written. */
    public val written: Int
        get() = results.count { it.isWritten }

    /** The number of files that held the right bytes, if [WriteOptions.onlyIfChanged] is set. */
    public val unchanged: Int
        get() = results.count { !it.isWritten && it.error == null }

    /** The errors of files that failed or were not begun. */
    public val errors: List<FileSystemException>
        get() = results.mapNotNull { it.error }

    /**
     * Throws if a file failed.
     *
     * @throws IOException the first error, with up to 100 others suppressed in it.
     */
    @Throws(IOException::class)
    public fun throwIfAnyFailed() {
        val errors = errors
        val first = errors.firstOrNull() ?: return
        // A second call must not add them again.
        if (first.suppressed.isEmpty()) errors.drop(1).take(MAX_SUPPRESSED).forEach(first::addSuppressed)
        throw first
    }

    internal companion object {
        private const val MAX_SUPPRESSED = 100
        private const val WRITTEN: Byte = 0
        private const val FAILED: Byte = 2

        /** Reads the results that `write_all.rs` has written. */
        fun read(bytes: ByteArray, paths: List<Path>, within: Path?): WriteReport {
            val from = Failure.native(bytes)
            val count = from.int
            if (count < 0) throw Failure.read(from, within)
            val outcomes = ByteArray(count)
            from.get(outcomes)
            return WriteReport(paths.mapIndexed { index, path -> result(from, path, outcomes.getOrNull(index)) })
        }

        private fun result(from: ByteBuffer, path: Path, outcome: Byte?): WriteResult = when (outcome) {
            null -> WriteResult(path, false, Failure.notBegun(path, "write"))
            FAILED -> WriteResult(path, false, Failure.read(from, path))
            else -> WriteResult(path, outcome == WRITTEN, null)
        }
    }
}
