package dev.smallfry

import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.exists
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertSame
import kotlin.test.assertTrue
import org.junit.jupiter.api.io.TempDir

/**
 * Iterators are the caller's own code, asked during a call. Whatever they do, the entries that they
 * gave before must not be lost.
 */
class IteratorTest {
    @TempDir
    lateinit var directory: Path

    private val threads = listOf(0, 1, 2, 8)

    private fun paths(count: Int) = List(count) { directory.resolve("$it") }

    /** An exception that no code catches by mistake. */
    private class Thrown : Error("thrown by the caller's own code")

    private fun <T> throwingAfter(items: List<T>, error: Throwable): Sequence<T> = sequence {
        yieldAll(items)
        throw error
    }

    @Test
    fun `all entries before an exception are written`() {
        for (count in listOf(1, 10, 20_000)) {
            for (threads in threads) {
                val paths = paths(count.coerceAtMost(500))
                paths.forEach(Files::deleteIfExists)
                val entries = List(count) { FileEntry(paths[it % paths.size], "$it") }
                val error = Thrown()
                val options = WriteOptions(threads = threads)
                assertSame(error, assertFailsWith<Thrown> { Smallfry.writeAll(throwingAfter(entries, error).asIterable(), options) })
                val last = paths.indices.map { count - paths.size + it }
                for (number in last) assertEquals("$number", Files.readString(paths[number % paths.size]), "$threads threads")
            }
        }
    }

    @Test
    fun `an entry that cannot give its contents is an exception like any other`() {
        val error = Thrown()
        val text = object : CharSequence by "text" {
            override fun toString(): String = throw error
        }
        val (before, with, after) = paths(3)
        val entries = listOf(FileEntry(before, "before"), FileEntry(with, text), FileEntry(after, "after"))
        assertSame(error, assertFailsWith<Thrown> { Smallfry.writeAll(entries) })
        assertEquals(listOf(true, false, false), listOf(before.exists(), with.exists(), after.exists()))
    }

    @Test
    fun `an exception ends a call that reads`() {
        val paths = makeNumbered(directory, 300)
        for (threads in threads) {
            val error = Thrown()
            val throwing = object : AbstractCollection<Path>() {
                override val size = paths.size

                override fun iterator() = throwingAfter(paths, error).iterator()
            }
            assertSame(error, assertFailsWith<Thrown> { Smallfry.readAll(throwing, ReadOptions(threads = threads)) })
        }
    }

    @Test
    fun `a stream gives the results before an exception, then the exception, then no more`() {
        val paths = makeNumbered(directory, 300)
        for (count in listOf(0, 1, 300)) {
            for (threads in threads) {
                val error = Thrown()
                Smallfry.streamText(throwingAfter(paths.take(count), error).iterator(), ReadOptions(threads = threads)).use { stream ->
                    repeat(count) { assertEquals("$it", stream.next().value) }
                    assertSame(error, assertFailsWith<Thrown> { stream.hasNext() })
                    assertFalse(stream.hasNext())
                    assertFailsWith<NoSuchElementException> { stream.next() }
                }
            }
        }
    }

    @Test
    fun `a checked exception is thrown as it is`() {
        val error = java.io.IOException("not declared")
        val iterator = throwingAfter(listOf<Path>(), error).iterator()
        assertSame(error, assertFailsWith<java.io.IOException> { Smallfry.stream(iterator).use { it.hasNext() } })
    }

    @Test
    fun `an iterator may call smallfry`() {
        val read = makeNumbered(directory, 50)
        Smallfry.streamText(read.iterator()).use { other ->
            val entries = sequence {
                while (other.hasNext()) {
                    val text = other.next().value
                    val inner = directory.resolve("inner $text")
                    Smallfry.writeAll(listOf(FileEntry(inner, text)), WriteOptions(threads = 2)).throwIfAnyFailed()
                    inner.appendText(" again", replace = true)
                    check(Smallfry.readAllText(listOf(inner), ReadOptions(threads = 2)).single().value == "$text again")
                    runCatching { Smallfry.writeAll(throwingAfter(emptyList<FileEntry>(), Thrown()).asIterable()) }
                    yield(FileEntry(directory.resolve("outer $text"), text))
                }
            }
            assertEquals(50, Smallfry.writeAll(entries.asIterable(), WriteOptions(threads = 2)).written)
        }
        repeat(50) { assertEquals("$it", Files.readString(directory.resolve("outer $it"))) }
    }

    @Test
    fun `an iterator may close its own stream`() {
        val paths = makeNumbered(directory, 100)
        for (threads in threads) {
            lateinit var stream: ReadStream<String>
            val closing = sequence {
                yieldAll(paths)
                stream.close()
                yieldAll(paths)
            }
            stream = Smallfry.streamText(closing.iterator(), ReadOptions(threads = threads))
            assertFalse(stream.hasNext())
            assertFalse(stream.hasNext())
            stream.close()
        }
        await("threads of closed streams end") { nativeThreads() == 0 }
    }

    @Test
    fun `an iterator that asks its own stream is refused`() {
        lateinit var stream: ReadStream<String>
        val asking = sequence<Path> { stream.next() }
        stream = Smallfry.streamText(asking.iterator())
        assertFailsWith<IllegalStateException> { stream.hasNext() }
        stream.close()
    }

    @Test
    fun `an array is read when its entry is taken`() {
        val bytes = ByteArray(100)
        val paths = paths(10)
        val entries = paths.asSequence().mapIndexed { index, path ->
            bytes.fill(index.toByte())
            FileEntry(path, bytes)
        }
        Smallfry.writeAll(entries.asIterable(), WriteOptions(threads = 2)).throwIfAnyFailed()
        paths.forEachIndexed { index, path -> assertContentEquals(ByteArray(100) { index.toByte() }, Files.readAllBytes(path)) }
    }

    @Test
    fun `huge entries between small ones are written and read whole`() {
        val contents = List(40) { ByteArray(if (it % 10 == 3) (1 shl 20) * (it / 10 + 1) + 1 else it) { byte -> (byte + it).toByte() } }
        val paths = paths(contents.size)
        for (threads in threads) {
            val options = WriteOptions(threads = threads, maxBytesInFlight = 1)
            assertEquals(40, Smallfry.writeAll(paths.zip(contents) { path, bytes -> FileEntry(path, bytes) }, options).written)
            val reading = ReadOptions(threads = threads, maxBytesInFlight = 1)
            val streamed = Smallfry.stream(paths.iterator(), reading).use { stream -> stream.asSequence().toList() }
            for (results in listOf(Smallfry.readAll(paths, reading), streamed)) {
                assertEquals(paths, results.map { it.path })
                results.zip(contents) { result, bytes -> assertContentEquals(bytes, result.value) }
            }
        }
    }

    @Test
    fun `a hundred thousand paths give a result each`() {
        val paths = makeNumbered(directory, 1_000)
        val many = List(100_000) { paths[it * 7 % paths.size] }
        val results = Smallfry.readAllText(many)
        assertEquals(many.size, results.size)
        assertTrue(results.withIndex().all { (index, result) -> result.value == "${index * 7 % paths.size}" })
    }
}
