package dev.smallfry

import java.io.UncheckedIOException
import java.lang.ref.Cleaner
import java.nio.channels.ClosedByInterruptException
import java.nio.file.Path
import java.util.ArrayDeque
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/**
 * The results of [Smallfry.stream], one after the other.
 *
 * Files are read ahead as far as the bytes in flight allow, however slowly results are taken. In
 * Kotlin, `asSequence()` makes a sequence that can be gone through once. Any thread may ask for
 * results, one at a time, and any thread may close the stream.
 *
 * Interrupting the thread that asks ends it: [hasNext] and [next] then throw an
 * [UncheckedIOException] with a [ClosedByInterruptException], and the thread stays interrupted.
 */
public class ReadStream<T> private constructor(
    private val source: Source,
    decoding: Decoding<T>,
    reader: Long,
) : Iterator<ReadResult<T>>, AutoCloseable {
    private val waiting = ArrayDeque<ReadResult<T>>()
    private val memory = ByteArray(ROOM)
    private val lock = ReentrantLock()
    private val handle = Handle(reader)
    private val cleaning = CLEANER.register(this, handle)
    private var mayHaveMore = true
    private var isInterrupted = false

    private val sink = object : Sink<T>(source, decoding) {
        override fun take(indices: IntArray, results: List<ReadResult<T>>) {
            waiting += results
        }
    }

    /**
     * Tells whether there is another result, and waits for it. `false` once the stream is closed.
     *
     * @throws IllegalStateException if the iterator of paths calls this
     */
    override fun hasNext(): Boolean = lock.withLock {
        check(!source.isAsking) { "the paths of a stream cannot depend on its own results" }
        if (isInterrupted) throw interrupted()
        while (waiting.isEmpty() && mayHaveMore && !handle.isClosed()) {
            if (Thread.currentThread().isInterrupted) throw interrupted()
            mayHaveMore = handle.next(source, sink, memory)
        }
        if (waiting.isNotEmpty() && !handle.isClosed()) return true
        val wasOpen = !handle.isClosed()
        close()
        if (wasOpen) source.rethrow()
        return false
    }

    override fun next(): ReadResult<T> = lock.withLock {
        if (!hasNext()) throw NoSuchElementException("no more files")
        waiting.remove()
    }

    private fun interrupted(): UncheckedIOException {
        isInterrupted = true
        waiting.clear()
        close()
        return UncheckedIOException(ClosedByInterruptException())
    }

    /**
     * Begins nothing more, waits for files in flight, and frees the memory. A second call does
     * nothing. If the iterator of paths closes the stream, the memory is freed when the call that
     * uses the iterator returns.
     */
    override fun close() {
        // A thread in `next` returns soon, since nothing more begins.
        handle.cancel()
        lock.withLock {
            waiting.clear()
            if (!source.isAsking) cleaning.clean()
        }
    }

    /** The native reader. It must be freed once, and not be used afterwards. */
    private class Handle(private var reader: Long) : Runnable {
        private val cancelled = AtomicBoolean()

        fun isClosed() = cancelled.get()

        /** Must be called under the lock of the stream. */
        fun next(source: Source, sink: Sink<*>, memory: ByteArray): Boolean =
            reader != 0L && Native.nextPiece(reader, source, sink, memory)

        @Synchronized
        fun cancel() {
            if (cancelled.compareAndSet(false, true) && reader != 0L) Native.cancelReader(reader)
        }

        /** Must be called under the lock of the stream, or when the stream is unreachable. */
        @Synchronized
        override fun run() {
            val last = reader
            reader = 0
            if (last != 0L) Native.closeReader(last)
        }
    }

    internal companion object {
        /**
         * The room for contents in bytes: enough for many small files, and small enough for the
         * processor's cache.
         */
        private const val ROOM = 256 shl 10

        /** Frees readers that were not closed. */
        private val CLEANER: Cleaner = Cleaner.create()

        fun <T> open(paths: Iterator<Path>, options: ReadOptions, decoding: Decoding<T>): ReadStream<T> {
            val source = Paths(paths, options.within, keepsAll = false)
            val reader = Native.ready().openReader(
                source,
                options.bits or decoding.bits,
                options.threads,
                options.maxBytesInFlight,
                options.maxFileSize,
                options.within?.let(PathBytes::of),
            )
            source.failure?.let { throw it }
            return ReadStream(source, decoding, reader)
        }
    }
}
