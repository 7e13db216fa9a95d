package dev.smallfry

/**
 * What the native half gives results to: it calls back with what it has put into [memory], on the thread that called it, and what
 * is thrown here ends its call.
 *
 * Contents are one behind the other. In the table a result is the number of the path and the length of the contents; or the number,
 * -1 and the error. The last one's contents may be apart. `native/src/read.rs` writes it.
 */
internal abstract class Sink<T>(private val source: Source, private val decoding: Decoding<T>) {
    val memory = ByteArray(ROOM)

    /** Some result, [index] being the number of its path. */
    protected abstract fun take(index: Int, result: ReadResult<T>)

    /** Whether more is wanted. */
    @Suppress("unused")
    fun accept(table: ByteArray, count: Int, apart: ByteArray?): Boolean {
        val from = Failure.native(table)
        var place = 0
        repeat(count) { number ->
            val index = from.int
            val path = source.paths[index]
            val length = from.int
            val result = if (length < 0) {
                ReadResult.failed(path, Failure.read(from, path))
            } else if (apart != null && number == count - 1) {
                ReadResult.read(path, decoding.decode(apart))
            } else {
                place += length
                ReadResult.read(path, decoding.decode(memory, place - length, length))
            }
            take(index, result)
        }
        return !Thread.currentThread().isInterrupted
    }

    private companion object {
        /** In bytes: many small files, and at hand in the processor's cache. */
        const val ROOM = 256 shl 10
    }
}

/** How the contents of a file become a value. */
internal sealed interface Decoding<T> {
    /** Of an array that is used again. */
    fun decode(memory: ByteArray, place: Int, length: Int): T

    /** Of an array that nobody else has. */
    fun decode(contents: ByteArray): T
}

internal object AsBytes : Decoding<ByteArray> {
    override fun decode(memory: ByteArray, place: Int, length: Int): ByteArray = memory.copyOfRange(place, place + length)

    override fun decode(contents: ByteArray): ByteArray = contents
}

internal object AsText : Decoding<String> {
    override fun decode(memory: ByteArray, place: Int, length: Int): String = String(memory, place, length, Charsets.UTF_8)

    override fun decode(contents: ByteArray): String = String(contents, Charsets.UTF_8)
}
