package dev.smallfry

import java.nio.channels.ClosedByInterruptException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.PathMatcher
import java.nio.file.attribute.FileTime
import kotlin.io.path.createDirectory
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.DisabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir

/**
 * A mirror must be the same as its source, a dry run must tell what is then done, and a call that
 * was stopped must be ended by the next one.
 */
@DisabledOnOs(OS.WINDOWS)
class MirrorTest {
    @TempDir
    lateinit var dir: Path

    private val from: Path
        get() = dir.resolve("from")

    private val to: Path
        get() = dir.resolve("to")

    @BeforeEach
    fun `make a tree`() = makeTree(from)

    @AfterEach
    fun `no thread is left`() = await("threads end") { nativeThreads() == 0 }

    /** Compares times as well. */
    private fun assertMirrored() {
        assertSameTree(from, to)
        assertEquals(entriesOf(from, "%P %T@"), entriesOf(to, "%P %T@"))
    }

    private fun changes(options: MirrorTreeOptions) = from.mirrorTree(to, options).changes.map { "$it" }

    @Test
    fun `a mirror is the same as its source, and then nothing changes`() {
        val entries = entriesOf(from, "%y").size.toLong()
        for (threads in listOf(0, 1, 3)) {
            val first = from.mirrorTree(to, MirrorTreeOptions(threads = threads))
            assertMirrored()
            assertEquals(entries to 0L, first.changed.files + first.changed.directories to first.unchanged)
            val second = from.mirrorTree(to, MirrorTreeOptions(threads = threads))
            assertEquals(0L to entries, second.changed.files + second.changed.directories to second.unchanged)
            to.removeTree()
        }
    }

    @Test
    fun `a dry run tells the changes that are then done`() {
        assertEquals(entriesOf(from, "%y").size, changes(MirrorTreeOptions(dryRun = true)).size)
        assertFalse(Files.exists(to))
        from.mirrorTree(to)
        Files.writeString(from.resolve("a/file"), "longer text")
        Files.createDirectories(from.resolve("new/\u00e4"))
        assertEquals(0, run("chmod", "700", "$from/empty"))
        Files.writeString(to.resolve("gone"), "")
        Files.setLastModifiedTime(from, FileTime.fromMillis(0))
        val expected = setOf(
            "SetAttributes ", "Update a/file", "Update name", "Create new", "Create new/\u00e4", "SetAttributes empty", "Delete gone",
        )
        val found = from.mirrorTree(to, MirrorTreeOptions(delete = true, dryRun = true))
        assertEquals(expected, found.changes.map { "$it" }.toSet())
        val done = from.mirrorTree(to, MirrorTreeOptions(delete = true))
        assertEquals("$found", "$done")
        assertEquals(1, done.deleted)
        assertEquals(emptyList(), done.changes)
        assertMirrored()
    }

    @Test
    fun `contents are compared, and names left out, where options ask for it`() {
        from.mirrorTree(to)
        val file = from.resolve("a/file")
        Files.writeString(file, "TEXT")
        Files.setLastModifiedTime(file, Files.getLastModifiedTime(to.resolve("a/file")))
        Files.writeString(to.resolve("kept.log"), "")
        assertEquals(0, from.mirrorTree(to, MirrorTreeOptions(exclude = listOf("*.log"))).changed.files)
        val options = MirrorTreeOptions(delete = true, compareContents = true, exclude = listOf("*.log", "/empty"))
        assertEquals(2, from.mirrorTree(to, options).changed.files)
        assertEquals("TEXT", Files.readString(to.resolve("name")))
        assertTrue(Files.exists(to.resolve("kept.log")))
        assertEquals(1, from.mirrorTree(to, MirrorTreeOptions(delete = true)).deleted)
    }

    @Test
    fun `entries that a filter does not want stay in the mirror`() {
        from.mirrorTree(to)
        Files.writeString(to.resolve("kept.log"), "")
        Files.writeString(to.resolve("a/gone"), "")
        Files.writeString(from.resolve("a/file"), "longer text")
        val isWanted = PathMatcher { it.fileName.toString() !in setOf("kept.log", "file") }
        val report = from.mirrorTree(to, MirrorTreeOptions(delete = true, filter = isWanted))
        assertEquals(1, report.deleted)
        assertEquals("text", Files.readString(to.resolve("a/file")))
        assertTrue(Files.exists(to.resolve("kept.log")))
        val failing = PathMatcher { error("seen enough") }
        assertFailsWith<IllegalStateException> { from.mirrorTree(to, MirrorTreeOptions(delete = true, filter = failing)) }
        assertTrue(Files.exists(to.resolve("kept.log")))
    }

    @Test
    fun `an entry that fails is an error, and the others are mirrored`() {
        val directory = Files.createDirectories(to.resolve("link"))
        val error = assertFailsWith<TreeException> { from.mirrorTree(to) }
        assertEquals("$directory", error.errors.single().otherFile)
        assertTrue(error.done.files > 0)
        from.mirrorTree(to, MirrorTreeOptions(delete = true))
        assertMirrored()
        assertIs<NoSuchFileException>(assertFailsWith<TreeException> { dir.resolve("missing").mirrorTree(to) }.cause)
        assertFailsWith<TreeException> { from.mirrorTree(from.resolve("a/copy")) }
        assertFailsWith<IllegalArgumentException> { from.mirrorTree(to, MirrorTreeOptions(exclude = listOf("["))) }
    }

    @Test
    fun `progress ends with all entries, and an interrupt stops the call`() {
        val heard = ArrayList<Pair<Long, Long>>()
        val report = from.mirrorTree(to, MirrorTreeOptions(onProgress = { entries, bytes -> heard += entries to bytes }))
        assertEquals(report.changed.files + report.changed.directories to report.changed.bytes, heard.last())
        from.mirrorTree(to, MirrorTreeOptions(onProgress = { entries, bytes -> heard += entries to bytes }))
        assertEquals(entriesOf(from, "%y").size.toLong() to 0L, heard.last())
        Thread.currentThread().interrupt()
        assertFailsWith<ClosedByInterruptException> { from.mirrorTree(to) }
        assertTrue(Thread.interrupted())
    }

    @Test
    fun `a mirror that a cancelled coroutine left is ended by the next one`() {
        makeNumbered(from.resolve("many").createDirectory(), 2_000)
        runBlocking {
            val mirroring = launch { from.mirrorTreeSuspending(to, MirrorTreeOptions(threads = 1)) }
            while (!Files.exists(to)) kotlinx.coroutines.delay(1)
            mirroring.cancelAndJoin()
            from.mirrorTreeSuspending(to)
        }
        assertMirrored()
    }
}
