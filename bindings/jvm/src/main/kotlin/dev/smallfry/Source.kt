package dev.smallfry

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Path
import java.util.Objects.requireNonNull

/**
 * Gives entries to the native half: paths, and contents where it writes. The native half calls back
 * with memory to fill, on the thread that called it. An exception of the caller's iterator ends the
 * entries; [rethrow] throws it when the entries before it are done.
 *
 * In memory an entry is the length of its path and that of its contents, in bytes, then both.
 * `native/src/source.rs` reads it.
 */
internal abstract class Source(private val within: Path?, private val keepsAll: Boolean) {
    /**
     * Paths in the order in which they were taken. Other threads read them while this one adds to
     * them.
     */
    private val paths = ArrayDeque<Path?>()

    /** The number of the first of these paths. */
    private var first = 0

    /** The error because of which nothing could begin. */
    var failure: IOException? = null
        private set

    /** True while the caller's iterator runs. */
    var isAsking = false
        private set

    private var thrown: Throwable? = null
    private var path: ByteArray? = null
    private var contents = NOTHING

    /** Takes the next entry, and returns its path. Null at the end. */
    protected abstract fun next(): Path?

    /** Returns the contents of that entry. */
    protected open fun contents(): ByteArray = NOTHING

    /**
     * Puts as many entries into [memory] as there is room for. Returns the bytes put, 0 at the end,
     * or the negative number of bytes that one entry needs.
     */
    @Suppress("unused", "TooGenericExceptionCaught")
    fun fill(memory: ByteBuffer): Int {
        if (thrown != null) return 0
        memory.order(ByteOrder.nativeOrder())
        isAsking = true
        try {
            return put(memory)
        } catch (error: Throwable) {
            thrown = error
            return memory.position()
        } finally {
            isAsking = false
        }
    }

    /** Ends the entries: there is no native memory for the next one. */
    @Suppress("unused")
    fun noMemory(bytes: Int) {
        thrown = OutOfMemoryError("no memory outside of the heap for a path and contents of $bytes bytes")
    }

    /** Throws the exception that ended the entries, if there was one. */
    fun rethrow() {
        thrown?.let { throw it }
    }

    private fun put(memory: ByteBuffer): Int {
        while (true) {
            val path = this.path ?: take() ?: break
            val needed = 2L * Int.SIZE_BYTES + path.size + contents.size
            if (needed > memory.remaining()) {
                if (memory.position() > 0) break
                return -Math.toIntExact(needed)
            }
            memory.putInt(path.size).putInt(contents.size).put(path).put(contents)
            this.path = null
            contents = NOTHING
        }
        return memory.position()
    }

    private fun take(): ByteArray? {
        val next = next() ?: return null
        val bytes = if (within == null) PathBytes.of(next) else PathBytes.asIs(next)
        contents = contents()
        synchronized(paths) { paths.add(next) }
        path = bytes
        return bytes
    }

    /**
     * Returns the paths of these numbers, once. Unless all are kept, they are then forgotten, since
     * there may be endless paths.
     */
    fun paths(indices: IntArray): List<Path> = synchronized(paths) {
        val wanted = indices.map { checkNotNull(paths[it - first]) }
        if (!keepsAll) {
            for (index in indices) paths[index - first] = null
            while (paths.isNotEmpty() && paths.first() == null) {
                paths.removeFirst()
                first++
            }
        }
        wanted
    }

    /** Returns all paths, also those that were not taken, once the native half takes no more. */
    fun allPaths(): List<Path> = synchronized(paths) { paths.mapTo(ArrayList()) { checkNotNull(it) }.also(::rest) }

    /** Adds the paths of the entries that are left. */
    protected abstract fun rest(to: MutableList<Path>)

    @Suppress("unused")
    fun isInterrupted(): Boolean = Thread.currentThread().isInterrupted

    @Suppress("unused")
    fun failed(bytes: ByteArray) {
        failure = Failure.read(bytes, within)
    }

    private companion object {
        val NOTHING = ByteArray(0)
    }
}

/** Paths of files to read. */
internal class Paths(private val from: Iterator<Path>, within: Path?, keepsAll: Boolean) : Source(within, keepsAll) {
    override fun next(): Path? = if (from.hasNext()) requireNonNull(from.next(), "a path is null") else null

    override fun rest(to: MutableList<Path>): Unit = from.forEachRemaining(to::add)
}

/** Files to write. */
internal class Entries(private val from: Iterator<FileEntry>, within: Path?) : Source(within, keepsAll = true) {
    private var entry: FileEntry? = null

    override fun next(): Path? {
        entry = if (from.hasNext()) requireNonNull(from.next(), "an entry is null") else null
        return entry?.path
    }

    override fun contents(): ByteArray = entry!!.bytes()

    override fun rest(to: MutableList<Path>): Unit = from.forEachRemaining { to.add(it.path) }
}
