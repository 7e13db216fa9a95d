package dev.smallfry

import java.nio.file.FileSystemException
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.InvalidPathException
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.ProviderMismatchException
import kotlin.io.path.createDirectory
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.readBytes
import kotlin.io.path.readText
import kotlin.random.Random
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Writing one file: the contents must be those of Kotlin's own functions, whatever the old ones,
 * and errors must be Java's.
 */
class OneFileTest {
    @TempDir
    lateinit var directory: Path

    private val levels = Durability.entries.flatMap { level -> listOf(level to false, level to true) }

    @Test
    fun `text replaces the old contents`() {
        for ((level, replace) in levels) {
            val path = directory.resolve("$level$replace")
            for (length in listOf(0, 11, 5, 5, 0, 300_000, (1 shl 20) + 1, 3 shl 20, 7)) {
                val text = "ab\u00e9\u6f22\ud83d\ude00".repeat(length / 6 + 1).take(length)
                path.writeText(text, level, replace)
                assertEquals(String(text.toByteArray()), path.readText(), "$level $replace $length")
            }
        }
    }

    @Test
    fun `text is encoded as Java encodes it, lone surrogates included`() {
        val random = Random(1)
        val path = directory.resolve("a")
        repeat(500) {
            val text = String(CharArray(random.nextInt(50)) { random.nextInt(if (it % 3 == 0) 0x10000 else 0x100).toChar() })
            path.writeText(text)
            assertContentEquals(text.toByteArray(), path.readBytes())
        }
        path.writeText("a\ud800b")
        assertEquals("a?b", path.readText())
    }

    @Test
    fun `bytes are written, and text is added`() {
        for ((level, replace) in levels) {
            val path = directory.resolve("$level$replace")
            path.writeBytes(byteArrayOf(0, -1, 65), level, replace)
            path.appendText("\u00e9", level, replace)
            path.appendText("", level, replace)
            assertContentEquals(byteArrayOf(0, -1, 65) + "\u00e9".toByteArray(), path.readBytes())
        }
    }

    @Test
    fun `a link stays, and its target is written`() {
        val target = directory.resolve("target").also { it.writeText("old") }
        val link = directory.resolve("link").createSymbolicLinkPointingTo(target)
        for ((level, replace) in levels) {
            link.writeText("$level $replace", level, replace)
            assertTrue(Files.isSymbolicLink(link))
            assertEquals("$level $replace", target.readText())
        }
    }

    @Test
    fun `errors are those of Java, name the path as it was given, and leave no temporary file`() {
        directory.resolve("file").writeText("")
        val long = "x".repeat(300)
        for ((level, replace) in levels) {
            val missing = directory.resolve("missing/a")
            val error = assertFailsWith<NoSuchFileException> { missing.writeText("a", level, replace) }
            assertEquals(missing.toString(), error.file)
            for (path in listOf(directory, directory.resolve("file/a"), directory.resolve(long))) {
                val refused = assertFailsWith<FileSystemException> { path.writeText("a", level, replace) }
                assertEquals(path.toString(), refused.file)
                assertTrue(": " in refused.reason, refused.reason)
            }
        }
        assertEquals(listOf("file"), directory.toFile().list()?.toList())
    }

    @Test
    fun `a relative path is named as it was given`() {
        val path = Path.of("no such directory/a")
        assertEquals(path.toString(), assertFailsWith<NoSuchFileException> { path.writeText("a") }.file)
    }

    @Test
    fun `a full disk is an error, and the null device takes everything`() {
        val full = Path.of("/dev/full")
        if (!Files.exists(full)) return println("skipped: there is no /dev/full")
        assertTrue("write: " in assertFailsWith<FileSystemException> { full.writeText("a") }.reason)
        Path.of("/dev/null").writeText("a")
    }

    @Test
    fun `failures leave no file open`() {
        val open = Path.of("/proc/self/fd").toFile()
        if (!open.exists()) return println("skipped: there is no /proc")
        directory.resolve("d").createDirectory()
        val fail = { repeat(100) { assertFailsWith<FileSystemException> { directory.resolve("d").writeText("a", replace = it % 2 == 0) } } }
        fail()
        val before = open.list()?.size ?: 0
        repeat(5) { fail() }
        assertTrue((open.list()?.size ?: 0) <= before + 5)
    }

    @Test
    fun `names of any characters work`() {
        for (name in listOf("\u00e9", "\u6f22\u5b57", "\ud83d\ude00 smile", "%41 \\ ?*", " ", "a\nb")) {
            val path = directory.resolve(name)
            path.writeText(name)
            assertEquals(name, path.readText())
            assertEquals(name, Smallfry.readAllText(listOf(path)).single().value)
        }
        assertFailsWith<InvalidPathException> { directory.resolve("a\u0000b").writeText("") }
    }

    @Test
    fun `names that are not UTF-8 work`() {
        val child = ProcessBuilder("bash", "-c", "printf old > \"$1\"/$'\\xff\\xfe.txt'", "bash", directory.toString()).start()
        if (child.waitFor() != 0) return println("skipped: this system has no such names")
        val path = Files.newDirectoryStream(directory).use { it.single() }
        assertEquals("old", Smallfry.readAllText(listOf(path)).single().value)
        path.writeText("new")
        assertEquals("new", Files.readString(path))
        val below = directory.relativize(path)
        assertEquals("new", Smallfry.readAllText(listOf(below), ReadOptions(within = directory)).single().value)
        assertEquals(1, directory.toFile().list()?.size)
    }

    @Test
    fun `paths of other file systems are refused`() {
        FileSystems.newFileSystem(directory.resolve("a.zip"), mapOf("create" to "true")).use { zip ->
            val path = zip.getPath("/a")
            assertFailsWith<ProviderMismatchException> { path.writeText("a") }
            assertFailsWith<ProviderMismatchException> { Smallfry.readAll(listOf(path)) }
            assertFailsWith<ProviderMismatchException> { Smallfry.writeAll(listOf(FileEntry(path, "a"))) }
        }
    }
}
