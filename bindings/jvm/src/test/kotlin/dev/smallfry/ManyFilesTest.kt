package dev.smallfry

import java.io.IOException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.attribute.FileTime
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.getLastModifiedTime
import kotlin.io.path.readText
import kotlin.io.path.setLastModifiedTime
import kotlin.random.Random
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Many files in one call: each must have its own result in its own place, whatever becomes of the
 * others.
 */
class ManyFilesTest {
    @TempDir
    lateinit var dir: Path

    private fun path(name: Any): Path = dir.resolve("$name")

    @Test
    fun `files of all sizes are read, in order, beside missing ones`() {
        val random = Random(2)
        val sizes = listOf(0, 1, 4_095, 4_096, 131_071, 131_072, 131_073, 262_144, 1 shl 20) + List(300) { random.nextInt(20_000) }
        val paths = sizes.mapIndexed { index, size ->
            path(index).also { if (index % 10 != 3) Files.write(it, random.nextBytes(size)) }
        }
        for (threads in listOf(0, 1, 2, 8)) {
            val results = Smallfry.readAll(paths, ReadOptions(threads = threads, completionOrder = threads == 8))
            assertEquals(paths, results.map { it.path })
            results.forEachIndexed { index, result ->
                if (index % 10 == 3) {
                    assertIs<NoSuchFileException>(result.error)
                    assertNull(result.valueOrNull)
                    assertEquals(paths[index].toString(), assertFailsWith<NoSuchFileException> { result.value }.file)
                } else {
                    assertContentEquals(Files.readAllBytes(paths[index]), result.value)
                }
            }
        }
    }

    @Test
    fun `text is decoded as Java decodes it`() {
        val random = Random(3)
        val paths = List(200) { index -> path(index).also { Files.write(it, random.nextBytes(random.nextInt(5_000))) } }
        val results = Smallfry.readAllText(paths)
        paths.zip(results).forEach { (path, result) -> assertEquals(path.readText(), result.value) }
    }

    @Test
    fun `no files give empty results`() {
        assertEquals(emptyList(), Smallfry.readAll(emptyList()))
        assertEquals(emptyList(), Smallfry.writeAll(emptyList()).results)
        Smallfry.stream(emptyList<Path>().iterator()).use { assertTrue(!it.hasNext()) }
    }

    @Test
    fun `a hundred thousand small entries, and huge ones between them`() {
        val huge = ByteArray(5 shl 20) { it.toByte() }
        val entries = sequence {
            repeat(100_000) { index ->
                yield(if (index % 40_000 == 7) FileEntry(path("huge$index"), huge) else FileEntry(path(index % 500), "$index"))
            }
        }
        val report = Smallfry.writeAll(entries.asIterable())
        report.throwIfAnyFailed()
        assertEquals(100_000, report.written)
        assertContentEquals(huge, Files.readAllBytes(path("huge40007")))
        // The last one for each path wins.
        repeat(500) { if (it != 7) assertEquals("${99_500 + it}", path(it).readText()) }
    }

    @Test
    fun `each option of writeAll does what it says`() {
        val deep = FileEntry(path("a/b/c"), "1")
        assertIs<NoSuchFileException>(Smallfry.writeAll(listOf(deep)).errors.single())
        Smallfry.writeAll(listOf(deep), WriteOptions(createParents = true)).throwIfAnyFailed()
        assertIs<FileAlreadyExistsException>(Smallfry.writeAll(listOf(deep), WriteOptions(createNew = true)).errors.single())

        val old = FileTime.fromMillis(1_000_000)
        deep.path.setLastModifiedTime(old)
        val report = Smallfry.writeAll(listOf(deep, FileEntry(path("new"), "2")), WriteOptions(onlyIfChanged = true))
        assertEquals(1 to 1, report.written to report.unchanged)
        assertEquals(old, deep.path.getLastModifiedTime())

        for (level in Durability.entries) {
            for (replace in listOf(false, true)) {
                val entries = List(30) { FileEntry(path("$level-$it"), "$replace".toByteArray()) }
                Smallfry.writeAll(entries, WriteOptions(level, replace)).throwIfAnyFailed()
                assertTrue(entries.all { it.path.readText() == "$replace" })
            }
        }
        assertTrue(dir.toFile().list().orEmpty().none { it.endsWith(".smallfry") })
    }

    @Test
    fun `paths that lead out of a directory are refused`() {
        val inside = Files.createDirectory(path("inside"))
        Files.writeString(path("secret"), "secret")
        inside.resolve("link").createSymbolicLinkPointingTo(path("secret"))
        val options = ReadOptions(within = inside)
        for (name in listOf("../secret", "link", path("secret").toString())) {
            assertIs<FileSystemException>(Smallfry.readAll(listOf(Path.of(name)), options).single().error, name)
            val entry = FileEntry(Path.of(name), "changed")
            assertIs<FileSystemException>(Smallfry.writeAll(listOf(entry), WriteOptions(within = inside)).errors.single(), name)
        }
        assertEquals("secret", path("secret").readText())
        assertFailsWith<IOException> { Smallfry.readAll(emptyList(), ReadOptions(within = path("none"))) }
        assertFailsWith<IOException> { Smallfry.writeAll(emptyList(), WriteOptions(within = path("none"))) }
        assertFailsWith<IOException> { Smallfry.stream(emptyList<Path>().iterator(), ReadOptions(within = path("none"))) }
    }

    @Test
    fun `with failFast nothing more begins after an error`() {
        val paths = List(1_000) { path(if (it == 5) "missing" else "there").also { one -> if (it != 5) Files.writeString(one, "a") } }
        val results = Smallfry.readAll(paths, ReadOptions(failFast = true, threads = 1))
        assertEquals(1_000, results.size)
        assertIs<NoSuchFileException>(results[5].error)
        assertTrue(results.drop(6).all { it.error is NotBegunException })
        val report = Smallfry.writeAll(paths.map { FileEntry(it.resolve("x"), "") }, WriteOptions(failFast = true, threads = 1))
        assertEquals(1_000, report.results.size)
        val error = assertFailsWith<FileSystemException> { report.throwIfAnyFailed() }
        assertEquals(error.suppressed.size, assertFailsWith<FileSystemException> { report.throwIfAnyFailed() }.suppressed.size)
        assertEquals(100, error.suppressed.size)
    }

    @Test
    fun `a file over maxFileSize is refused`() {
        val paths = listOf(path("small"), path("large"))
        paths.forEachIndexed { index, path -> Files.write(path, ByteArray(10 + index)) }
        val results = Smallfry.readAll(paths, ReadOptions(maxFileSize = 10))
        assertEquals(10, results[0].value.size)
        assertTrue("11 bytes" in assertFailsWith<FileSystemException> { results[1].value }.reason)
        for (wrong in listOf(-1L, Int.MAX_VALUE.toLong())) {
            assertFailsWith<IllegalArgumentException> { ReadOptions(maxFileSize = wrong) }
        }
        assertFailsWith<IllegalArgumentException> { ReadOptions(threads = -1) }
        assertFailsWith<IllegalArgumentException> { WriteOptions(maxBytesInFlight = -1) }
    }

    @Test
    fun `an interrupted thread begins nothing more, and stays interrupted`() {
        val endless = generateSequence(0) { it + 1 }.onEach { if (it == 1_000) Thread.currentThread().interrupt() }.take(200_000)
        Files.writeString(path("a"), "a")
        val results = Smallfry.readAll(endless.map { path("a") }.toList().also { Thread.interrupted() }.let { Interrupting(it) })
        assertTrue(Thread.interrupted())
        assertEquals(200_000, results.size)
        assertTrue(results.last().error is NotBegunException)
        assertEquals("a", String(results.first().value))

        val report = Smallfry.writeAll(endless.map { FileEntry(path("b${it % 100}"), "$it") }.asIterable())
        assertTrue(Thread.interrupted())
        assertEquals(200_000, report.results.size)
        assertTrue(report.results.first().isWritten && report.errors.all { it is NotBegunException })
        assertTrue(report.errors.isNotEmpty())
    }

    /** Interrupts the thread that goes through it after a thousand paths. */
    private class Interrupting(private val paths: List<Path>) : AbstractCollection<Path>() {
        override val size get() = paths.size

        override fun iterator() = object : Iterator<Path> {
            private var index = 0

            override fun hasNext() = index < paths.size

            override fun next() = paths[index].also { if (index++ == 1_000) Thread.currentThread().interrupt() }
        }
    }
}
