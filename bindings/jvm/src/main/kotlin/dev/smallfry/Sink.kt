package dev.smallfry

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * What the native half gives results to: it calls back with memory to be read, on the thread that called it, and what is thrown
 * here ends its call.
 *
 * In memory a result is the number of the path, the length of the contents, and these; or the number, -1 and the error. The last
 * one's contents may be apart. `native/src/read.rs` writes it.
 */
internal abstract class Sink<T>(private val source: Source) {
    /** Some result, [index] being the number of its path. */
    protected abstract fun take(index: Int, result: ReadResult<T>)

    /** Makes a value of the next [length] bytes of [memory]. */
    protected abstract fun value(memory: ByteBuffer, length: Int): T

    /** Whether more is wanted. */
    @Suppress("unused")
    fun accept(memory: ByteBuffer, count: Int, apart: ByteBuffer?): Boolean {
        memory.order(ByteOrder.nativeOrder())
        repeat(count) { number ->
            val index = memory.int
            val length = memory.int
            val path = source.paths[index]
            val result = if (length < 0) {
                ReadResult.failed<T>(path, Failure.read(memory, path))
            } else {
                val contents = if (apart != null && number == count - 1) apart else memory
                ReadResult.read(path, value(contents, length))
            }
            take(index, result)
        }
        return !Thread.currentThread().isInterrupted
    }
}

/** How the contents of a file become a value. */
internal sealed interface Decoding<T> {
    fun decode(memory: ByteBuffer, length: Int): T
}

internal object AsBytes : Decoding<ByteArray> {
    override fun decode(memory: ByteBuffer, length: Int): ByteArray = ByteArray(length).also { memory.get(it) }
}

/** One for each call: its memory is used again. */
internal class AsText : Decoding<String> {
    private var scratch = ByteArray(FIRST)

    override fun decode(memory: ByteBuffer, length: Int): String {
        if (length > KEPT) return String(AsBytes.decode(memory, length), Charsets.UTF_8)
        if (length > scratch.size) scratch = ByteArray(length.coerceAtLeast(2 * scratch.size))
        memory.get(scratch, 0, length)
        return String(scratch, 0, length, Charsets.UTF_8)
    }

    private companion object {
        const val FIRST = 16 shl 10
        const val KEPT = 1 shl 20
    }
}
