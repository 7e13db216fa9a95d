package dev.smallfry

import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.CompletableFuture
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import org.junit.jupiter.api.io.TempDir
import kotlin.io.path.writeText as writeTextOfKotlin

/**
 * The old file must not matter to a write: its length, links, pipes, devices, permissions.
 */
class TargetTest {
    @TempDir
    lateinit var directory: Path

    private val file: Path
        get() = directory.resolve("file")

    private val levels = Durability.entries.flatMap { level -> listOf(level to false, level to true) }

    private fun bytes(length: Int) = Random(length).nextBytes(length)

    /** No file, and files that are empty, longer, shorter, and as long. */
    private fun forEachStart(length: Int, body: (ByteArray, Durability, Boolean) -> Unit) {
        for ((level, replace) in levels) {
            for (old in listOf(null, 0, length + 7, length / 2, length)) {
                Files.deleteIfExists(file)
                if (old != null) Files.write(file, bytes(old))
                body(bytes(old ?: 0), level, replace)
                assertEquals(listOf("file"), namesIn(directory), "$level, replace $replace, over $old")
            }
        }
    }

    @Test
    fun `the new contents replace all of the old ones`() {
        for (size in listOf(0, 1, 300, 4_096)) {
            forEachStart(size) { _, level, replace ->
                file.writeBytes(bytes(size), level, replace)
                assertContentEquals(bytes(size), Files.readAllBytes(file))
            }
        }
    }

    @Test
    fun `added text comes after the old contents`() {
        for (text in listOf("", "caf\u00e9", "\u65e5\u672c".repeat(700))) {
            forEachStart(text.length) { old, level, replace ->
                file.appendText(text, level, replace)
                assertContentEquals(old + text.toByteArray(), Files.readAllBytes(file))
            }
        }
    }

    @Test
    fun `contents of the size of internal buffers are written whole`() {
        for (size in listOf(64, 128, 256, 1_024, 2_048).flatMap { listOf((it shl 10) - 1, it shl 10, (it shl 10) + 1) }) {
            file.writeBytes(bytes(size), replace = size % 2 == 0)
            assertContentEquals(bytes(size), Files.readAllBytes(file))
            assertContentEquals(bytes(size), Smallfry.readAll(listOf(file)).single().value)
        }
        file.writeText("small again")
        assertEquals("small again", Files.readString(file))
    }

    @Test
    fun `text is encoded as Kotlin encodes it`() {
        val random = Random(20)
        val other = directory.resolve("other")
        val surrogates = "\uD800\uDBFF\uDC00\uDFFFa\u00e9\u65e5"
        repeat(300) {
            val text = String(CharArray(random.nextInt(if (it == 0) 20_000 else 12)) { surrogates.random(random) })
            file.writeText(text)
            other.writeTextOfKotlin(text)
            assertContentEquals(Files.readAllBytes(other), Files.readAllBytes(file))
        }
    }

    @Test
    fun `any sequence of characters is text`() {
        file.writeText(StringBuilder("built"))
        file.appendText(" and read in part".subSequence(0, 4))
        assertEquals("built and", Files.readString(file))
    }

    @Test
    fun `a write through a dangling link makes a file, and a replacement fails`() {
        val link = directory.resolve("link").createSymbolicLinkPointingTo(Path.of("file"))
        val error = assertFailsWith<NoSuchFileException> { link.writeText("new", replace = true) }
        assertEquals("$link", error.file)
        link.writeText("new")
        link.appendText("er", replace = true)
        assertEquals("newer", Files.readString(file))
        assertEquals(listOf("file", "link"), namesIn(directory))
    }

    @Test
    fun `a pipe takes any amount, and is not replaced`() {
        val pipe = directory.resolve("pipe")
        if (run("mkfifo", "$pipe") != 0) return println("skipped: this system makes no pipes with a name")
        for (size in listOf(0, 10, 200_000, 2 shl 20)) {
            val reader = CompletableFuture.supplyAsync { Files.readAllBytes(pipe) }
            pipe.writeBytes(bytes(size))
            assertContentEquals(bytes(size), reader.get())
        }
        val reader = CompletableFuture.supplyAsync { Smallfry.readAllText(listOf(pipe)).single().value }
        pipe.appendText("added")
        assertEquals("added", reader.get())
        assertFailsWith<FileSystemException> { pipe.writeText("text", replace = true) }
        assertTrue(Files.readAttributes(pipe, BasicFileAttributes::class.java).isOther)
        assertEquals(listOf("pipe"), namesIn(directory))
    }

    @Test
    fun `the null device takes everything`() {
        val device = Path.of("/dev/null")
        device.appendText("text")
        device.writeBytes(ByteArray(3 shl 20))
    }

    @Test
    fun `an existing file keeps its permissions`() {
        val permissions = PosixFilePermissions.fromString("rw-r-----")
        for ((level, replace) in levels) {
            Files.deleteIfExists(file)
            Files.setPosixFilePermissions(Files.writeString(file, "old"), permissions)
            file.writeText("new", level, replace)
            assertEquals(permissions, Files.getPosixFilePermissions(file))
        }
    }

    @Test
    fun `a relative path leads to the same file as in Java`() {
        val relative = Path.of("").toRealPath().relativize(directory.toRealPath().resolve("file"))
        relative.writeText("text")
        assertEquals("text", Files.readString(file))
        assertEquals("text", Smallfry.readAllText(listOf(relative)).single().value)
        val beneath = Path.of("").toRealPath().relativize(directory.toRealPath())
        assertEquals("text", Smallfry.readAllText(listOf(Path.of("file")), ReadOptions(within = beneath)).single().value)
    }

    @Test
    fun `threads write their own files at the same time`() {
        val threads = List(4) { number ->
            CompletableFuture.runAsync { repeat(200) { directory.resolve("$number").writeText("$number: $it", replace = it % 2 == 0) } }
        }
        threads.forEach { it.get() }
        repeat(4) { assertEquals("$it: 199", Files.readString(directory.resolve("$it"))) }
    }
}
