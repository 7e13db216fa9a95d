package dev.smallfry

import java.nio.ByteBuffer
import java.nio.channels.ClosedByInterruptException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.LinkOption
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.PathMatcher
import java.nio.file.ProviderMismatchException
import java.nio.file.attribute.UserDefinedFileAttributeView
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
import kotlin.test.assertSame
import kotlin.test.assertTrue
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Assumptions.assumeTrue
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
        from.copyTree(absolute, CopyTreeOptions(links = Links.Absolute, hardLinks = false))
        assertEquals(from.resolve("a/file"), Files.readSymbolicLink(absolute.resolve("link")))
        assertEquals(1, Files.getAttribute(absolute.resolve("name"), "unix:nlink"))
    }

    @Test
    fun `owners, lists and attributes are those of the source where options ask for it`() {
        assumeTrue(Files.getAttribute(from, "unix:uid") == 0, "it needs root")
        val file = from.resolve("a/file")
        Files.setAttribute(file, "unix:uid", 1234)
        Files.setAttribute(file, "user:origin", ByteBuffer.wrap("here".toByteArray()))
        assertEquals(0, run("setfacl", "-m", "u:4321:r", "$file"))
        fun kept(options: CopyTreeOptions): Triple<Any, Boolean, Boolean> {
            from.copyTree(to, options)
            val copy = to.resolve("a/file")
            val names = Files.getFileAttributeView(copy, UserDefinedFileAttributeView::class.java).list()
            val uid = Files.getAttribute(copy, "unix:uid")
            val hasList = run("bash", "-c", "getfacl -cn \"$1\" | grep -q ^user:4321:", "bash", "$copy") == 0
            to.removeTree()
            return Triple(uid, hasList, "origin" in names)
        }
        assertEquals(Triple<Any, Boolean, Boolean>(0, false, false), kept(CopyTreeOptions()))
        assertEquals(Triple<Any, Boolean, Boolean>(1234, false, false), kept(CopyTreeOptions(owner = true)))
        assertEquals(Triple<Any, Boolean, Boolean>(0, true, false), kept(CopyTreeOptions(accessLists = true)))
        assertEquals(Triple<Any, Boolean, Boolean>(0, false, true), kept(CopyTreeOptions(attributes = true)))
        assertEquals(Triple<Any, Boolean, Boolean>(1234, true, true), kept(CopyTreeOptions(owner = true, accessLists = true, attributes = true)))
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
    fun `links are followed, and those that lead to nothing are errors`() {
        val error = assertFailsWith<TreeException> { from.copyTree(to, CopyTreeOptions(links = Links.Follow)) }
        assertEquals("$from/a/absolute", assertIs<NoSuchFileException>(error.errors.single()).file)
        assertEquals("text", Files.readString(to.resolve("link")))
        assertTrue(Files.isRegularFile(to.resolve("a/directory/large"), LinkOption.NOFOLLOW_LINKS))
        assertFalse(Files.isSymbolicLink(to.resolve("link")) || Files.isSymbolicLink(to.resolve("a/directory")))
        // A directory that is behind a link to one above it would have no end.
        from.resolve("a/up").createSymbolicLinkPointingTo(Path.of(".."))
        assertFailsWith<TreeException> { from.copyTree(dir.resolve("other"), CopyTreeOptions(links = Links.Follow)) }
        assertFalse(Files.exists(dir.resolve("other/a/up/a")))
    }

    @Test
    fun `a copy by hard links has further names of the files of its source`() {
        from.copyTree(to, CopyTreeOptions(method = CopyMethod.HardLink))
        for (name in listOf("a/file", "a/b/large", "link")) {
            fun inode(root: Path) = Files.getAttribute(root.resolve(name), "unix:ino", LinkOption.NOFOLLOW_LINKS)
            assertEquals(inode(from), inode(to), name)
        }
        assertEquals(entriesOf(from, "%P %y %m %l"), entriesOf(to, "%P %y %m %l"))
    }

    @Test
    fun `unchanged files stay, and a copy can be flushed`() {
        val options = CopyTreeOptions(times = true, onlyIfChanged = true, durability = Durability.Full)
        assertTrue(from.copyTree(to, options).files > 1)
        Files.writeString(from.resolve("a/b/large"), "changed")
        // It has two names.
        assertEquals(2, from.copyTree(to, options).files)
        assertEquals("changed", Files.readString(to.resolve("a/b/large")))
    }

    @Test
    fun `a filter is asked about each entry that is not excluded, on the thread of the caller`() {
        val caller = Thread.currentThread()
        for (threads in listOf(0, 1, 3)) {
            val asked = HashSet<Path>()
            val options = CopyTreeOptions(threads = threads, exclude = listOf("/a/b"), filter = { path ->
                assertSame(caller, Thread.currentThread())
                asked.add(path)
                path.name != "file" && path.name != "empty"
            })
            from.copyTree(to, options)
            // Names that are not UTF-8 are the same paths as those that Java lists.
            val listed = Files.walk(from).use { all -> all.map(from::relativize).toList() }.toSet() - Path.of("")
            assertEquals(listed.filterNot { it.startsWith("a/b") }.toSet(), asked)
            val copied = Files.walk(to).use { all -> all.map(to::relativize).toList() }.toSet() - Path.of("")
            assertEquals(asked.filterNot { it.name == "file" || it.name == "empty" }.toSet(), copied)
            to.removeTree()
        }
    }

    @Test
    fun `an exception of the filter stops the copy, and is thrown`() {
        makeNumbered(from.resolve("many").createDirectory(), 1_000)
        for (threads in listOf(0, 1, 3)) {
            var asked = 0
            val failing = PathMatcher { if (++asked == 100) throw java.io.IOException("seen enough") else true }
            val error = assertFailsWith<java.io.IOException> { from.copyTree(to, CopyTreeOptions(threads = threads, filter = failing)) }
            assertEquals("seen enough" to 100, error.message to asked)
            assertTrue(entriesOf(to, "%y").size <= 101)
            // The next calls are as any.
            to.removeTree()
            val ending = PathMatcher { Files.exists(endless(it)) }
            assertFailsWith<StackOverflowError> { from.copyTree(to, CopyTreeOptions(threads = threads, filter = ending)) }
            to.removeTree()
        }
        from.copyTree(to)
        assertSameTree(from, to)
    }

    @Test
    fun `an interrupt stops a copy with a filter, and progress is told meanwhile`() {
        makeNumbered(from.resolve("many").createDirectory(), 1_000)
        var told = 0
        val slow = PathMatcher { if (told == 0) Thread.sleep(1) else Thread.currentThread().interrupt(); true }
        val options = CopyTreeOptions(filter = slow, onProgress = { _, _ -> told++ })
        assertFailsWith<ClosedByInterruptException> { from.copyTree(to, options) }
        assertTrue(Thread.interrupted())
        assertEquals(1, told)
    }

    @Test
    fun `a filter may call smallfry, and matchers of Java are filters`() {
        val glob = FileSystems.getDefault().getPathMatcher("glob:a{,/file,/b}")
        from.copyTree(to, CopyTreeOptions(filter = { from.resolve(it).hasText() && glob.matches(it) }))
        assertEquals(listOf("", "a", "a/b", "a/file"), entriesOf(to, "%P"))
    }

    private fun Path.hasText() = Files.isDirectory(this) || Smallfry.readAllText(listOf(this)).single().valueOrNull == "text"

    private fun endless(path: Path): Path = endless(path.resolve("x")).resolve("y")

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
        from.copyTree(dir.resolve("without"), CopyTreeOptions(skipSpecial = true))
        pipes.forEach(Files::delete)
        assertSameTree(from, to)
        assertSameTree(from, dir.resolve("without"))
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
                val options = CopyTreeOptions(threads = 1, filter = { it.name.isNotEmpty() })
                val copying = launch { large.copyTreeSuspending(to, options) }
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
        val failing = CopyTreeOptions(filter = { error("seen enough") })
        assertFailsWith<IllegalStateException> { runBlocking { from.copyTreeSuspending(to, failing) } }
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
