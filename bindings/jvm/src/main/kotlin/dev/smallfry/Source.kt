package dev.smallfry

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Path
import java.util.Objects.requireNonNull

/**
 * What the native half asks for paths, and for contents where it writes: it calls back with memory to be filled, on the thread
 * that called it. What the caller's iterator throws ends the entries; it is thrown by [rethrow], once those before it are done.
 *
 * In memory an entry is the length of its path and that of its contents, in bytes, then both. `native/src/source.rs` reads it.
 */
internal abstract class Source(private val within: Path?, private val keepsAll: Boolean) {
    /** In the order in which they were asked for. Other threads look at them while this one adds to them. */
    private val paths = ArrayDeque<Path?>()

    /** The number of the first of them. */
    private var first = 0

    /** Why nothing could begin. */
    var failure: IOException? = null
        private set

    /** Whether the caller's iterator is at work. */
    var isAsking = false
        private set

    private var thrown: Throwable? = null
    private var path: ByteArray? = null
    private var contents = NOTHING

    /** Takes the next entry; its path is then the last one of [paths]. Null at the end. */
    protected abstract fun next(): Path?

    /** What that entry is to hold. */
    protected open fun contents(): ByteArray = NOTHING

    /**
     * Puts as many entries into [memory] as there is room for: bytes put, 0 at the end, or less by how many bytes the first needs.
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

    /** There is no native memory for the next entry, which ends them as what the iterator throws does. */
    @Suppress("unused")
    fun noMemory(bytes: Int) {
        thrown = OutOfMemoryError("no memory outside of the heap for a path and contents of $bytes bytes")
    }

    /** Throws what ended the entries, if that was not their end. */
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

    /** Those of these numbers, which are asked for once. Unless all are kept they are given up, since there may be no end of them. */
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

    /** All, also those that were not asked for, once the native half asks for no more. */
    fun allPaths(): List<Path> = synchronized(paths) { paths.mapTo(ArrayList()) { checkNotNull(it) }.also(::rest) }

    /** Adds the paths of all entries that are left. */
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
