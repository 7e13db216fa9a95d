package dev.smallfry

import java.nio.channels.ClosedByInterruptException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.ProviderMismatchException
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread
import kotlin.io.path.createDirectories
import kotlin.io.path.createDirectory
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.name
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNotEquals
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
 * A copy must have all that its source has, a removal must stay in its tree, and a call that is
 * stopped must leave nothing of its own behind.
 */
@DisabledOnOs(OS.WINDOWS)
class TreeTest {
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

    @Test
    fun `a copy has names, kinds, contents, permissions and hard links of its source`() {
        for (threads in listOf(0, 1, 3)) {
            val copied = from.copyTree(to, CopyTreeOptions(threads = threads))
            assertSameTree(from, to)
            val (directories, files) = entriesOf(from, "%y").partition { it == "d" }
            assertEquals(directories.size.toLong() to files.size.toLong(), copied.directories to copied.files)
            assertTrue(copied.bytes > 0)
            to.removeTree()
        }
    }

    @Test
    fun `times and targets of links are those that options ask for`() {
        from.copyTree(to, CopyTreeOptions(times = true))
        // Further names of files are made last, which changes the times of their directories.
        fun times(root: Path) = entriesOf(root, "%y %P %T@").filter { it.startsWith("f") || it.startsWith("d a/b ") }
        assertEquals(times(from), times(to))
        val absolute = dir.resolve("absolute")
        from.copyTree(absolute, CopyTreeOptions(linkTargets = LinkTargets.Absolute, hardLinks = false))
        assertEquals(from.resolve("a/file"), Files.readSymbolicLink(absolute.resolve("link")))
        assertEquals(1, Files.getAttribute(absolute.resolve("name"), "unix:nlink"))
    }

    @Test
    fun `existing files are replaced, kept or refused`() {
        val file = to.resolve("a").createDirectories().resolve("file")
        Files.writeString(file, "old")
        from.copyTree(to, CopyTreeOptions(existing = Existing.Keep))
        assertEquals("old", Files.readString(file))
        val error = assertFailsWith<TreeException> { from.resolve("a").copyTree(to.resolve("a"), CopyTreeOptions(existing = Existing.Refuse)) }
        assertIs<FileAlreadyExistsException>(error.errors.first())
        assertEquals("old", Files.readString(file))
        from.copyTree(to)
        assertSameTree(from, to)
    }

    @Test
    fun `parents are made when that is asked for`() {
        val deep = dir.resolve("x/y/z")
        assertIs<NoSuchFileException>(assertFailsWith<TreeException> { from.copyTree(deep) }.cause)
        assertFalse(Files.exists(dir.resolve("x")))
        from.copyTree(deep, CopyTreeOptions(createParents = true))
        assertSameTree(from, deep)
    }

    @Test
    fun `each entry that cannot be copied is an error with its path, and the rest is copied`() {
        val pipes = listOf("a/pipe", "pipe").map(from::resolve)
        for (pipe in pipes) assertEquals(0, run("mkfifo", "$pipe"))
        val error = assertFailsWith<TreeException> { from.copyTree(to) }
        assertEquals(pipes.map { "$it" }, error.errors.map { it.file }.sorted())
        assertEquals(setOf("$to/pipe", "$to/a/pipe"), error.errors.map { it.otherFile }.toSet())
        for (one in error.errors) assertReasonBeginsWith("copy", one)
        assertEquals(error.errors[0].file to error.errors[0], error.file to error.cause)
        assertTrue("and 1 more error" in error.reason, "$error")
        assertTrue(error.done.files > 0)
        pipes.forEach(Files::delete)
        assertSameTree(from, to)
    }

    @Test
    fun `errors name the paths as the caller did`() {
        val near = Path.of("no such directory")
        for (error in listOf(
            assertFailsWith<TreeException> { near.copyTree(to) },
            assertFailsWith<TreeException> { near.removeTree() },
        )) {
            assertIs<NoSuchFileException>(error.cause)
            assertEquals("$near", error.file)
        }
        assertEquals(0, near.removeTree(RemoveTreeOptions(missingOk = true)).files)
        FileSystems.newFileSystem(dir.resolve("a.zip"), mapOf("create" to "true")).use { zip ->
            assertFailsWith<ProviderMismatchException> { from.copyTree(zip.getPath("/to")) }
            assertFailsWith<ProviderMismatchException> { zip.getPath("/").removeTree() }
        }
    }

    @Test
    fun `a tree is not copied into itself, and no directory is removed by another name`() {
        assertFailsWith<TreeException> { from.copyTree(from.resolve("a/copy")) }
        assertFailsWith<TreeException> { from.resolve("a/..").removeTree() }
        assertFailsWith<TreeException> { from.resolve(".").removeTree() }
        assertTrue(Files.exists(from.resolve("a/file")))
    }

    @Test
    fun `a removal never goes through links`() {
        val outside = dir.resolve("outside").createDirectory()
        val kept = makeNumbered(outside, 3)
        from.resolve("out").createSymbolicLinkPointingTo(outside)
        val entries = entriesOf(from, "%y")
        val removed = from.removeTree()
        assertEquals(entries.size.toLong(), removed.files + removed.directories)
        assertFalse(Files.exists(from))
        val link = dir.resolve("link").createSymbolicLinkPointingTo(outside)
        assertEquals(1, link.removeTree().files)
        assertTrue(kept.all(Files::exists) && !Files.isSymbolicLink(link))
    }

    @Test
    fun `a file and a link are trees as well`() {
        assertEquals(1, from.resolve("a/file").copyTree(dir.resolve("file")).files)
        assertEquals("text", Files.readString(dir.resolve("file")))
        assertEquals(1, from.resolve("link").copyTree(dir.resolve("link")).files)
        assertEquals(Path.of("a/file"), Files.readSymbolicLink(dir.resolve("link")))
        assertEquals(1, dir.resolve("file").removeTree().files)
        assertTrue(Files.notExists(dir.resolve("file")))
    }

    @Test
    fun `progress ends with the counts, on the thread of the caller`() {
        val heard = ArrayList<Triple<Long, Long, Thread>>()
        val listener = ProgressListener { entries, bytes -> heard += Triple(entries, bytes, Thread.currentThread()) }
        val copied = from.copyTree(to, CopyTreeOptions(onProgress = listener))
        assertEquals(Triple(copied.files + copied.directories, copied.bytes, Thread.currentThread()), heard.last())
        val removed = to.removeTree(RemoveTreeOptions(onProgress = listener))
        assertEquals(removed.files + removed.directories, heard.last().first)
    }

    @Test
    fun `an exception of the listener stops the call, and is thrown`() {
        untilStopped { large ->
            val failing = ProgressListener { _, _ -> error("seen enough") }
            val error = assertFailsWith<IllegalStateException> { large.copyTree(to, CopyTreeOptions(threads = 1, onProgress = failing)) }
            assertEquals("seen enough", error.message)
        }
    }

    @Test
    fun `an interrupted thread begins nothing`() {
        Thread.currentThread().interrupt()
        assertFailsWith<ClosedByInterruptException> { from.copyTree(to) }
        assertFailsWith<ClosedByInterruptException> { from.removeTree() }
        assertTrue(Thread.interrupted())
        assertTrue(Files.exists(from.resolve("a/file")) && !Files.exists(to))
    }

    @Test
    fun `an interrupt stops a copy`() {
        val before = openDescriptors()
        untilStopped { large ->
            val thrown = AtomicReference<Throwable?>()
            val copying = thread {
                thrown.set(runCatching { large.copyTree(to, CopyTreeOptions(threads = 1)) }.exceptionOrNull())
                if (thrown.get() != null) assertTrue(Thread.interrupted())
            }
            await("it has begun") { Files.exists(to) }
            copying.interrupt()
            copying.join()
            assertTrue(thrown.get() is ClosedByInterruptException?, "${thrown.get()}")
        }
        // The JVM opens files of its own.
        assertTrue(openDescriptors() < before + 10, "$before have become ${openDescriptors()}")
    }

    @Test
    fun `a cancelled coroutine ends its copy and its removal`() {
        untilStopped { large ->
            runBlocking {
                val copying = launch { large.copyTreeSuspending(to, CopyTreeOptions(threads = 1)) }
                while (!Files.exists(to)) kotlinx.coroutines.delay(1)
                copying.cancelAndJoin()
                assertTrue(copying.isCancelled)
            }
        }
        runBlocking {
            val removing = launch { to.removeTreeSuspending() }
            kotlinx.coroutines.yield()
            removing.cancelAndJoin()
            to.removeTreeSuspending(RemoveTreeOptions(missingOk = true))
            from.copyTreeSuspending(to)
        }
        assertSameTree(from, to)
    }

    @Test
    fun `errors reach the coroutine`() {
        val error = assertFailsWith<TreeException> { runBlocking { dir.resolve("missing").copyTreeSuspending(to) } }
        assertIs<FileSystemException>(error.errors.single())
    }

    /**
     * Has larger and larger trees copied to [to], until a copy is not complete. Looks at what is
     * left then.
     */
    private fun untilStopped(copy: (Path) -> Unit) {
        for (count in generateSequence(4_000) { it * 2 }) {
            val large = dir.resolve("large$count").createDirectory()
            val files = makeNumbered(large, count).size
            copy(large)
            val copied = if (Files.exists(to)) Files.list(to).use { it.toList() } else emptyList()
            // A file that is there is whole, and has its own name.
            for (file in copied) assertEquals(file.name, Files.readString(file))
            if (copied.size < files) return
            to.removeTree()
            assertNotEquals(512_000, count, "the call goes on to its end")
        }
    }
}
