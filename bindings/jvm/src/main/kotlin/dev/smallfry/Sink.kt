package dev.smallfry

import java.nio.ByteBuffer
import java.nio.file.Path

/**
 * Takes results from the native half, on any of its threads. An exception thrown here ends its
 * call.
 *
 * Contents are one behind the other in an array that is reused. The table has the numbers of the
 * paths, then a row for each: its kind, and the length of the contents or the error. The contents
 * of the last row may be in an array of their own. `native/src/sink.rs` writes the table.
 */
internal abstract class Sink<T>(private val source: Source, private val decoding: Decoding<T>) {
    /** Takes results with the numbers of their paths. */
    protected abstract fun take(indices: IntArray, results: List<ReadResult<T>>)

    /** Reads a table. Returns whether more results are wanted. */
    @Suppress("unused")
    fun accept(memory: ByteArray, table: ByteArray, count: Int, apart: ByteArray?): Boolean {
        val from = Failure.native(table)
        val indices = IntArray(count) { from.int }
        val contents = Contents(memory, apart, count)
        take(indices, source.paths(indices).map { path -> result(path, from, contents) })
        return !Thread.currentThread().isInterrupted
    }

    private class Contents(val memory: ByteArray, val apart: ByteArray?, var left: Int, var used: Int = 0)

    private fun result(path: Path, from: ByteBuffer, contents: Contents): ReadResult<T> {
        val kind = from.get()
        contents.left--
        if (kind == FAILED) return ReadResult.failed(path, Failure.read(from, path))
        val length = from.int
        if (contents.apart != null && contents.left == 0) return ReadResult.read(path, decoding.decode(contents.apart))
        val place = contents.used
        contents.used += length
        return ReadResult.read(path, decoding.decode(contents.memory, place, length, kind == ASCII))
    }

    private companion object {
        const val FAILED: Byte = 0
        const val ASCII: Byte = 2
    }
}

/** Makes a value from the contents of a file. */
internal sealed interface Decoding<T> {
    /** The bits for the native half, from [OptionBits]. */
    val bits: Int

    /** Decodes a part of an array that is reused. */
    fun decode(memory: ByteArray, place: Int, length: Int, isAscii: Boolean): T

    /** Decodes an array that is not reused, which may be the value itself. */
    fun decode(contents: ByteArray): T
}

internal object AsBytes : Decoding<ByteArray> {
    override val bits: Int
        get() = 0

    override fun decode(memory: ByteArray, place: Int, length: Int, isAscii: Boolean): ByteArray =
        memory.copyOfRange(place, place + length)

    override fun decode(contents: ByteArray): ByteArray = contents
}

internal object AsText : Decoding<String> {
    override val bits: Int
        get() = OptionBits.TEXT

    // This deprecated constructor is right for ASCII, and the only one that copies without checking
    // each byte.
    @Suppress("DEPRECATION", "PLATFORM_CLASS_MAPPED_TO_KOTLIN")
    override fun decode(memory: ByteArray, place: Int, length: Int, isAscii: Boolean): String =
        if (isAscii) java.lang.String(memory, 0, place, length) as String else String(memory, place, length, Charsets.UTF_8)

    override fun decode(contents: ByteArray): String = String(contents, Charsets.UTF_8)
}
