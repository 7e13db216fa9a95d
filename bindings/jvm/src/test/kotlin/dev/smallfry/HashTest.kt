package dev.smallfry

import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.security.MessageDigest
import java.util.HexFormat
import kotlin.io.path.createDirectory
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNotEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.DisabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir

/** Digests must be those of Java and git, and each file that has none must have an error. */
@DisabledOnOs(OS.WINDOWS)
class HashTest {
    @TempDir
    lateinit var dir: Path

    private val from: Path
        get() = dir.resolve("from")

    @BeforeEach
    fun `make a tree`() = makeTree(from)

    @AfterEach
    fun `no thread is left`() = await("threads end") { nativeThreads() == 0 }

    private fun digestsOf(paths: List<Path>, algorithm: HashAlgorithm) =
        Smallfry.hashFiles(paths, HashOptions(algorithm)).map { "${it.value}" }

    @Test
    fun `digests of files are those of Java and git`() {
        val files = Files.walk(from).use { all -> all.filter { Files.isRegularFile(it) }.toList() }
        val contents = files.map(Files::readAllBytes)
        fun ofJava(name: String, of: List<ByteArray>) =
            of.map { HexFormat.of().formatHex(MessageDigest.getInstance(name).digest(it)) }
        assertEquals(ofJava("SHA-256", contents), digestsOf(files, HashAlgorithm.Sha256))
        assertEquals(ofJava("SHA-1", contents), digestsOf(files, HashAlgorithm.Sha1))
        val blobs = contents.map { "blob ${it.size}\u0000".toByteArray() + it }
        assertEquals(ofJava("SHA-1", blobs), digestsOf(files, HashAlgorithm.GitBlob))
        val abc = Files.writeString(dir.resolve("abc"), "abc")
        val expected = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
        assertEquals(listOf(expected), digestsOf(listOf(abc), HashAlgorithm.Blake3))
        assertEquals(emptyList(), Smallfry.hashFiles(emptyList()))
    }

    @Test
    fun `each file has its own error`() {
        val missing = Path.of("missing")
        val results = Smallfry.hashFiles(listOf(missing, from.resolve("a/file"), from))
        assertEquals("missing", assertIs<NoSuchFileException>(results[0].error).file)
        assertNull(results[1].error)
        assertFailsWith<FileSystemException> { results[2].value }
        assertReasonBeginsWith("read", results[2].error)
    }

    @Test
    fun `digests of trees depend on names, kinds, contents and nothing else`() {
        val digest = Smallfry.hashTree(from)
        val copy = dir.resolve("copy")
        from.copyTree(copy, CopyTreeOptions(hardLinks = false))
        assertEquals(digest, Smallfry.hashTree(copy, HashOptions(threads = 3)))
        assertEquals(digest.hashCode(), Smallfry.hashTree(copy).hashCode())
        copy.resolve("new").createDirectory()
        val changed = Smallfry.hashTree(copy)
        assertNotEquals(digest, changed)
        assertEquals(digest, Smallfry.hashTree(copy, HashOptions(exclude = listOf("/new"))))
        val bytes = digest.toByteArray()
        assertEquals("$digest", HexFormat.of().formatHex(bytes))
        bytes.fill(0)
        assertNotEquals(0, digest.toByteArray().count { it != 0.toByte() })
        val sizes = HashAlgorithm.entries.map { Smallfry.hashTree(from, HashOptions(it)).toByteArray().size }
        assertEquals(listOf(32, 32, 20, 20), sizes)
    }

    @Test
    fun `a filter leaves out entries as patterns do`() {
        val expected = Smallfry.hashTree(from, HashOptions(exclude = listOf("file", "/a/b")))
        val options = HashOptions(filter = { it.fileName.toString() != "file" && it != Path.of("a/b") })
        assertEquals(expected, Smallfry.hashTree(from, options))
        assertFailsWith<IllegalStateException> { Smallfry.hashTree(from, HashOptions(filter = { error("seen enough") })) }
    }

    @Test
    fun `files that have not changed are not read with a cache`() {
        val cache = dir.resolve("digests")
        var bytes = 0L
        val options = HashOptions(cache = cache, onProgress = { _, done -> bytes = done })
        fun hashed(hash: (HashOptions) -> Unit): Long {
            bytes = -1
            hash(options)
            return bytes
        }
        // What was changed less than two seconds ago is read again.
        Thread.sleep(2_100)
        val tree = Smallfry.hashTree(from)
        val hashTree = { with: HashOptions -> assertEquals(tree, Smallfry.hashTree(from, with)) }
        assertTrue(hashed(hashTree) > 0)
        assertEquals(0, hashed(hashTree))
        val large = listOf(from.resolve("a/b/large"))
        val digest = Smallfry.hashFiles(large).single().value
        assertEquals(0, hashed { assertEquals(digest, Smallfry.hashFiles(large, it).single().value) })
        assertEquals(0, hashed { with -> runBlocking { assertEquals(tree, Smallfry.hashTreeSuspending(from, with)) } })
        Files.writeString(from.resolve("a/file"), "TEXT")
        assertEquals(4 + 4, hashed { assertNotEquals(tree, Smallfry.hashTree(from, it)) }, "two names")
    }

    @Test
    fun `errors of a cache reach the caller`() {
        Thread.sleep(2_100)
        val files = listOf(from.resolve("a/file"))
        val other = Files.writeString(dir.resolve("other"), "no cache")
        for ((cache, type) in listOf(
            dir to FileSystemException::class,
            other to FileSystemException::class,
            dir.resolve("missing/cache") to NoSuchFileException::class,
        )) {
            val options = HashOptions(cache = cache)
            val ofTree = assertFailsWith<TreeException> { Smallfry.hashTree(from, options) }
            val ofFiles = assertFailsWith<FileSystemException> { Smallfry.hashFiles(files, options) }
            val suspended = assertFailsWith<FileSystemException> { runBlocking { Smallfry.hashFilesSuspending(files, options) } }
            for (error in listOf(ofTree.errors.single(), ofFiles, suspended)) assertEquals(type to "$cache", error::class to error.file)
        }
        assertEquals("no cache", Files.readString(other))
        val missing = dir.resolve("missing")
        val error = assertFailsWith<TreeException> { Smallfry.hashTree(missing, HashOptions(cache = dir)) }
        assertEquals("$dir", error.errors.single().file, "nothing is hashed without the cache")
    }

    @Test
    fun `all entries that cannot be hashed are errors with their paths`() {
        val pipes = listOf("a/pipe", "pipe").map(from::resolve)
        for (pipe in pipes) assertEquals(0, run("mkfifo", "$pipe"))
        val error = assertFailsWith<TreeException> { Smallfry.hashTree(from) }
        assertEquals(pipes.map { "$it" }, error.errors.map { it.file }.sorted())
        assertIs<NoSuchFileException>(assertFailsWith<TreeException> { Smallfry.hashTree(Path.of("missing")) }.cause)
    }

    @Test
    fun `progress ends with the counts`() {
        var heard = 0L to 0L
        val options = HashOptions(onProgress = { entries, bytes -> heard = entries to bytes })
        Smallfry.hashFiles(List(3) { from.resolve("a/file") }, options)
        assertEquals(3L to 12L, heard)
        Smallfry.hashTree(from.resolve("a/b"), options)
        // The directory, another one, two names of a file and an empty one.
        assertEquals(5L to 600_000L, heard)
    }

    @Test
    fun `an interrupt stops in the middle of a file`() {
        val large = from.resolve("large")
        untilInterrupted { size, interrupting ->
            java.io.RandomAccessFile(large.toFile(), "rw").use { it.setLength(size * 50_000L) }
            Smallfry.hashTree(from, HashOptions(threads = 1, onProgress = interrupting))
        }
        val options = HashOptions(threads = 1, onProgress = { _, _ -> Thread.currentThread().interrupt() })
        val results = Smallfry.hashFiles(List(1_000) { large }, options)
        assertTrue(Thread.interrupted())
        assertIs<NotBegunException>(results.last().error)
        assertEquals("$large", results.last().error?.file)
        assertEquals(1_000, results.size)
    }

    @Test
    fun `a cancelled coroutine ends its call`() = runBlocking {
        val large = List(100_000) { from.resolve("a/b/large") }
        val begun = CompletableDeferred<Unit>()
        val options = HashOptions(HashAlgorithm.Sha256, threads = 1, onProgress = { _, _ -> begun.complete(Unit) })
        val hashing = launch { Smallfry.hashFilesSuspending(large, options) }
        begun.await()
        hashing.cancelAndJoin()
        assertTrue(hashing.isCancelled)
        assertEquals(Smallfry.hashTree(from), Smallfry.hashTreeSuspending(from))
    }
}
