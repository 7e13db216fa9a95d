package dev.smallfry

import java.io.Serializable
import java.nio.ByteBuffer
import java.nio.channels.ClosedByInterruptException
import java.nio.file.FileSystemException
import java.nio.file.Path
import java.nio.file.PathMatcher

/** The entries of a tree that a call has worked on. */
public class TreeCounts internal constructor(
    /** The number of files and links, and of special files that were removed. */
    public val files: Long,
    /** The number of directories. */
    public val directories: Long,
    /** The number of bytes of files; 0 for a removal. */
    public val bytes: Long,
) : Serializable {
    override fun toString(): String = "$files files, $directories directories, $bytes bytes"

    private companion object {
        private const val serialVersionUID = 1L
    }
}

/**
 * Says that a call for a tree could not do all. It has the path and the reason of the first error,
 * which is also its cause. The call went on after each error.
 */
public class TreeException internal constructor(
    /** The errors of all entries that were left, in no order. */
    public val errors: List<FileSystemException>,
    /** The counts of what was done nevertheless. */
    public val done: TreeCounts,
) : FileSystemException(errors[0].file, errors[0].otherFile, reasonOf(errors)) {
    init {
        initCause(errors[0])
    }

    private companion object {
        private const val serialVersionUID = 1L

        fun reasonOf(errors: List<FileSystemException>): String {
            // Not every class of java.nio takes a reason.
            val reason = errors[0].reason ?: errors[0].javaClass.simpleName
            return when (val others = errors.size - 1) {
                0 -> reason
                1 -> "$reason (and 1 more error)"
                else -> "$reason (and $others more errors)"
            }
        }
    }
}

/**
 * Watches one call, on the thread that waits for it: it passes progress on, notices interrupts, and
 * asks the filter.
 */
internal class Watch(private val listener: ProgressListener?, private val filter: PathMatcher? = null) {
    private var isInterrupted = false
    private var told = System.nanoTime()

    /** Tells whether there is a filter to ask. */
    val asks: Boolean
        get() = filter != null

    /** Asks the filter about the entry at a path below the root. */
    @Suppress("unused")
    fun wants(path: ByteArray): Boolean = filter == null || filter.matches(PathBytes.toPath(path))

    /** Hears the progress. Returns whether the call goes on. */
    @Suppress("unused")
    fun goesOn(entries: Long, bytes: Long): Boolean {
        if (Thread.currentThread().isInterrupted) {
            isInterrupted = true
        } else if (listener != null && System.nanoTime() - told >= INTERVAL) {
            listener.onProgress(entries, bytes)
            told = System.nanoTime()
        }
        return !isInterrupted
    }

    /**
     * Makes a call for a tree, which returns an outcome as bytes. Errors name those paths of
     * [given] as the caller did.
     *
     * @throws TreeException if entries were left
     * @throws ClosedByInterruptException if the thread is interrupted
     */
    fun run(vararg given: Path?, call: Native.(Watch) -> ByteArray): Outcome {
        if (Thread.currentThread().isInterrupted) throw ClosedByInterruptException()
        val from = bytes(call)
        if (isInterrupted) throw ClosedByInterruptException()
        val counts = TreeCounts(from.long, from.long, from.long)
        val (unchanged, deleted) = from.long to from.long
        val errors = List(from.int) { Failure.read(from, *given) }
        if (errors.isNotEmpty()) throw TreeException(errors, counts)
        done(counts.files + counts.directories + unchanged + deleted, counts.bytes)
        return Outcome(counts, unchanged, deleted, from)
    }

    /** Makes a call, and returns what it returns. */
    fun bytes(call: Native.(Watch) -> ByteArray): ByteBuffer = Failure.native(Native.ready().call(this))

    /** Tells the listener the end. */
    fun done(entries: Long, bytes: Long) {
        listener?.onProgress(entries, bytes)
    }

    /** The counts of a call, those of a mirror alone, and what it returns behind them. */
    class Outcome(val counts: TreeCounts, val unchanged: Long, val deleted: Long, val rest: ByteBuffer)

    private companion object {
        /** The time between two calls of the listener, in nanoseconds. */
        const val INTERVAL = 100_000_000L
    }
}
