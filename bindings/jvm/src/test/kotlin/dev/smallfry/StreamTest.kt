package dev.smallfry

import java.io.UncheckedIOException
import java.lang.ref.WeakReference
import java.nio.channels.ClosedByInterruptException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.concurrent.thread
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.count
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Files one after the other: no further ahead than allowed, to be stopped at any time, and never a
 * crash for it.
 */
class StreamTest {
    @TempDir
    lateinit var directory: Path

    private val paths by lazy { List(500) { directory.resolve("$it") } }
    private val endless get() = generateSequence(0) { it + 1 }.map { paths[it % paths.size] }

    @BeforeEach
    fun `make files`() = paths.forEachIndexed { index, path -> Files.writeString(path, "$index ".repeat(1_000)) }

    @Test
    fun `a stream gives all files in order`() {
        for (threads in listOf(0, 1, 2, 8)) {
            Smallfry.streamText(paths.iterator(), ReadOptions(threads = threads)).use { stream ->
                val texts = stream.asSequence().map { it.value }.toList()
                assertEquals(paths.indices.map { "$it ".repeat(1_000) }, texts)
                assertFalse(stream.hasNext())
                assertFailsWith<NoSuchElementException> { stream.next() }
            }
        }
    }

    @Test
    fun `completionOrder gives each file once`() {
        Smallfry.stream(paths.iterator(), ReadOptions(threads = 4, completionOrder = true)).use { stream ->
            assertEquals(paths.toSet(), stream.asSequence().map { it.path }.toSet())
        }
    }

    @Test
    fun `an endless iterator is taken from only as far as the stream reads ahead`() {
        var asked = 0
        val options = ReadOptions(threads = 2, maxBytesInFlight = 100_000)
        Smallfry.stream(endless.onEach { asked++ }.iterator(), options).use { stream ->
            repeat(100) { assertTrue(stream.hasNext() && stream.next().value.isNotEmpty()) }
            // One piece of memory for paths, and the files that threads hold.
            assertTrue(asked < 20_000, "$asked")
        }
    }

    @Test
    fun `paths of results that were taken are forgotten`() {
        val asked = ConcurrentLinkedQueue<WeakReference<Path>>()
        val own = endless.map { Path.of("$it").also { copy -> asked += WeakReference(copy) } }
        for (completionOrder in listOf(false, true)) {
            asked.clear()
            Smallfry.stream(own.iterator(), ReadOptions(threads = 4, completionOrder = completionOrder)).use { stream ->
                repeat(2_000) { stream.next().value }
                // In completion order, a few of the first may still be in flight.
                await("no early path is kept") { asked.take(1_000).count { it.get() != null } < 100 }
            }
        }
    }

    @Test
    fun `missing files are results with an error`() {
        val some = listOf(paths[0], directory.resolve("missing"), paths[1])
        val results = Smallfry.stream(some.iterator()).use { it.asSequence().toList() }
        assertIs<NoSuchFileException>(results[1].error)
        assertEquals(listOf(true, false, true), results.map { it.error == null })
    }

    @Test
    fun `a stream can be closed at any time, by any thread, repeatedly`() {
        repeat(20) { round ->
            val stream = Smallfry.stream(endless.iterator(), ReadOptions(threads = round % 3))
            val reader = thread { while (stream.hasNext()) runCatching { stream.next() } }
            Thread.sleep(round.toLong())
            List(3) { thread { stream.close() } }.forEach(Thread::join)
            reader.join()
            stream.close()
            assertFalse(stream.hasNext())
        }
    }

    @Test
    fun `threads may share a stream`() {
        val seen = ConcurrentLinkedQueue<Path>()
        Smallfry.stream(paths.iterator()).use { stream ->
            val take = { while (true) seen.add((runCatching { stream.next() }.getOrNull() ?: break).path) }
            List(4) { thread(block = take) }.forEach(Thread::join)
        }
        assertEquals(paths.toSet(), seen.toSet())
        assertEquals(paths.size, seen.size)
    }

    @Test
    fun `a stream that nobody closes is freed`() {
        repeat(50) { Smallfry.stream(endless.iterator(), ReadOptions(threads = 2)).next() }
        repeat(3) {
            System.gc()
            Thread.sleep(20)
        }
        assertEquals(500, Smallfry.stream(paths.iterator()).use { it.asSequence().count() })
    }

    @Test
    fun `an interrupt ends a stream`() {
        val stream = Smallfry.stream(endless.iterator())
        stream.next()
        Thread.currentThread().interrupt()
        val error = assertFailsWith<UncheckedIOException> { while (true) stream.next() }
        assertIs<ClosedByInterruptException>(error.cause)
        assertTrue(Thread.interrupted())
        assertFailsWith<UncheckedIOException> { stream.hasNext() }
        stream.close()
    }

    @Test
    fun `a flow gives all files, some of them, or is cancelled`() = runBlocking {
        assertEquals(paths, Smallfry.readFlow(paths.asSequence()).toList().map { it.path })
        assertEquals("0 ".repeat(1_000), Smallfry.readTextFlow(endless).take(5).toList().first().value)
        repeat(5) {
            val job = launch(Dispatchers.Default) { Smallfry.readFlow(endless).count() }
            Thread.sleep(10)
            job.cancelAndJoin()
        }
    }
}
