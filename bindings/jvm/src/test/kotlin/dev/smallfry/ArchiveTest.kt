package dev.smallfry

import java.io.RandomAccessFile
import java.nio.file.FileAlreadyExistsException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import java.util.zip.ZipEntry
import java.util.zip.ZipInputStream
import java.util.zip.ZipOutputStream
import kotlin.io.path.createDirectory
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.inputStream
import kotlin.io.path.name
import kotlin.io.path.outputStream
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.DisabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir

/**
 * Archives must be those that Java and tar read and write, nothing may leave its directory, and a
 * call that is stopped must leave no archive and no half file.
 */
@DisabledOnOs(OS.WINDOWS)
class ArchiveTest {
    @TempDir
    lateinit var dir: Path

    private val from: Path
        get() = dir.resolve("from")

    private val to: Path
        get() = dir.resolve("to")

    private val any = UnpackOptions(permissions = true, linksMayLeave = true)

    @BeforeEach
    fun `make a tree`() = makeTree(from)

    @AfterEach
    fun `no thread is left`() = await("threads end") { nativeThreads() == 0 }

    private fun zip(archive: Path, vararg entries: Pair<String, String>) {
        ZipOutputStream(archive.outputStream()).use { zip ->
            for ((name, text) in entries) {
                zip.putNextEntry(ZipEntry(name))
                zip.write(text.toByteArray())
            }
        }
    }

    /** Removes what a zip cannot have: names that are not UTF-8, and several names of a file. */
    private fun keepUtf8() {
        val script = "cd \"$1\" && rm -r ./$'a\\303' ./$'\\377\\376' name a/b/c/name"
        assertEquals(0, run("bash", "-c", script, "bash", "$from"))
    }

    @Test
    fun `archives of Java are unpacked`() {
        val archive = dir.resolve("a.zip")
        val large = "0123456789".repeat(100_000)
        zip(archive, "empty/" to "", "a/file" to "text", "b" to large)
        val unpacked = Smallfry.unpack(archive, to)
        assertEquals(listOf(2L, 2L, large.length + 4L), listOf(unpacked.files, unpacked.directories, unpacked.bytes))
        assertEquals(listOf("text", large), listOf("a/file", "b").map { Files.readString(to.resolve(it)) })
        assertTrue(Files.isDirectory(to.resolve("empty")))
    }

    @Test
    fun `archives of tar are unpacked`() {
        for (flag in listOf("", "z")) {
            val archive = dir.resolve("a.tar$flag")
            assertEquals(0, run("tar", "-c${flag}f", "$archive", "-C", "$from", "."))
            val unpacked = Smallfry.unpack(archive, to, any)
            assertSameTree(from, to)
            assertEquals(entriesOf(from, "%y").count { it != "d" }.toLong(), unpacked.files)
            assertEquals(Files.getLastModifiedTime(from.resolve("a/file")).toMillis() / 1_000, Files.getLastModifiedTime(to.resolve("a/file")).toMillis() / 1_000)
            to.removeTree()
        }
    }

    @Test
    fun `Java reads what was packed`() {
        val archive = dir.resolve("a.zip")
        val packed = Smallfry.pack(from.resolve("a"), archive)
        val found = HashMap<String, ByteArray>()
        ZipInputStream(archive.inputStream()).use { zip ->
            while (true) found[(zip.nextEntry ?: break).name] = zip.readAllBytes()
        }
        for (file in listOf("file", "b/none", "b/large", "sparse")) {
            assertContentEquals(Files.readAllBytes(from.resolve("a").resolve(file)), found[file], file)
        }
        assertEquals(packed.files + packed.directories, found.size.toLong())
    }

    @Test
    fun `tar reads what was packed, and so does smallfry`() {
        for (format in ArchiveFormat.entries) {
            val archive = dir.resolve("archive")
            // A zip has names that are UTF-8 only.
            if (format == ArchiveFormat.Zip) keepUtf8()
            Smallfry.pack(from, archive, PackOptions(format = format))
            if (format == ArchiveFormat.Tar || format == ArchiveFormat.TarGz) {
                assertEquals(0, run("tar", "-xpf", "$archive", "-C", "${to.createDirectory()}"))
                assertSameTree(from, to)
                to.removeTree()
            }
            Smallfry.unpack(archive, to, any)
            assertSameTree(from, to)
            to.removeTree()
            Files.delete(archive)
        }
    }

    @Test
    fun `names in the archive are those that options ask for`() {
        val archive = dir.resolve("a.tgz")
        Smallfry.pack(from, archive, PackOptions(name = "x/y", exclude = listOf("b", "/x/y/link")))
        Smallfry.unpack(archive, to, UnpackOptions(stripComponents = 2, linksMayLeave = true, exclude = listOf("empty")))
        assertEquals("text", Files.readString(to.resolve("a/file")))
        assertFalse(listOf("a/b", "link", "empty").any { Files.exists(to.resolve(it)) })
        Smallfry.pack(from.resolve("a/file"), archive)
        Smallfry.unpack(archive, to)
        assertEquals("text", Files.readString(to.resolve("file")))
        for (name in listOf("/a", "..", "a/../b", "a/", "a\u0000")) assertFailsWith<IllegalArgumentException>(name) { PackOptions(name = name) }
    }

    @Test
    fun `a reproducible archive depends on names and contents alone`() {
        val (one, other) = listOf("one.zip", "other.zip").map(dir::resolve)
        keepUtf8()
        Smallfry.pack(from, one, PackOptions(reproducible = true))
        from.copyTree(to)
        Files.setPosixFilePermissions(to.resolve("a/file"), PosixFilePermissions.fromString("rw-rw-rw-"))
        Smallfry.pack(to, other, PackOptions(reproducible = true))
        assertEquals(-1, Files.mismatch(one, other))
    }

    @Test
    fun `entries that would leave the directory are errors with their path, and the others are unpacked`() {
        val archive = dir.resolve("slip.zip")
        zip(archive, "../evil" to "evil", "good" to "good", "a/../../evil" to "evil", "$dir/evil" to "evil")
        val error = assertFailsWith<TreeException> { Smallfry.unpack(archive, to) }
        assertEquals(3, error.errors.size)
        assertTrue(error.errors.all { "evil" in it.file }, "${error.errors}")
        assertEquals(1, error.done.files)
        assertEquals("good", Files.readString(to.resolve("good")))

        val tar = dir.resolve("slip.tar")
        dir.resolve("link").createSymbolicLinkPointingTo(dir)
        Files.writeString(dir.resolve("x"), "evil")
        assertEquals(0, run("tar", "-cPf", "$tar", "-C", "$from", "../x", "$dir/x", "-C", "$dir", "link", "from/a/file"))
        assertEquals(3, assertFailsWith<TreeException> { Smallfry.unpack(tar, to) }.errors.size)
        assertEquals("text", Files.readString(to.resolve("from/a/file")))
        // Entries never go through links, even if those may lead elsewhere.
        zip(archive, "link/evil" to "evil")
        Files.deleteIfExists(to.resolve("link"))
        to.resolve("link").createSymbolicLinkPointingTo(dir)
        assertFailsWith<TreeException> { Smallfry.unpack(archive, to, any) }
        assertFalse(Files.exists(dir.resolve("evil")))
    }

    @Test
    fun `a second file of a name is an error, or wins`() {
        val tar = dir.resolve("a.tar")
        val file = Files.writeString(dir.resolve("file"), "first")
        assertEquals(0, run("tar", "-cf", "$tar", "-C", "$dir", "file"))
        Files.writeString(file, "second")
        assertEquals(0, run("tar", "-rf", "$tar", "-C", "$dir", "file"))
        assertFailsWith<TreeException> { Smallfry.unpack(tar, to) }
        assertEquals("first", Files.readString(to.resolve("file")))
        Smallfry.unpack(tar, to, UnpackOptions(lastWins = true))
        assertEquals("second", Files.readString(to.resolve("file")))
        val error = assertFailsWith<TreeException> { Smallfry.unpack(tar, to, UnpackOptions(existing = Existing.Refuse, lastWins = true)) }
        assertIs<FileAlreadyExistsException>(error.cause)
    }

    @Test
    fun `limits stop an archive`() {
        val archive = dir.resolve("a.zip")
        zip(archive, "a" to "x".repeat(2 shl 20), "b" to "b")
        for (options in listOf(UnpackOptions(maxEntries = 1), UnpackOptions(maxBytes = 1 shl 20), UnpackOptions(maxRatio = 10))) {
            val error = assertFailsWith<TreeException> { Smallfry.unpack(archive, to, options) }
            assertEquals("$archive", error.file, "$error")
        }
        Smallfry.unpack(archive, to, UnpackOptions(maxEntries = 2, maxBytes = 4 shl 20, maxRatio = 10_000))
        assertFailsWith<IllegalArgumentException> { UnpackOptions(maxBytes = -1) }
    }

    @Test
    fun `wrong archives and arguments are errors`() {
        val archive = Files.writeString(dir.resolve("a.tar"), "no archive")
        assertEquals("$archive", assertFailsWith<TreeException> { Smallfry.unpack(archive, to) }.file)
        assertFailsWith<IllegalArgumentException> { Smallfry.pack(from, dir.resolve("a.rar")) }
        assertFailsWith<IllegalArgumentException> { Smallfry.pack(from, archive, PackOptions(exclude = listOf("["))) }
        val nowhere = dir.resolve("missing/a.tar")
        assertEquals("$nowhere", assertFailsWith<TreeException> { Smallfry.pack(from, nowhere) }.file)
        assertEquals("$nowhere", assertFailsWith<TreeException> { Smallfry.unpack(nowhere, to) }.file)
    }

    @Test
    fun `a call that is stopped leaves no archive and no half file`() {
        val before = openDescriptors()
        val archive = dir.resolve("a.tar.gz")
        val large = dir.resolve("large").createDirectory()
        val names by lazy { namesIn(dir) }
        untilInterrupted { size, interrupting ->
            makeNumbered(large, size)
            Files.deleteIfExists(archive)
            names.size
            Smallfry.pack(large, archive, PackOptions(threads = 1, onProgress = interrupting))
        }
        assertEquals(names, namesIn(dir))
        untilInterrupted { size, interrupting ->
            makeNumbered(large, size)
            Smallfry.pack(large, archive)
            to.removeTree(RemoveTreeOptions(missingOk = true))
            Smallfry.unpack(archive, to, UnpackOptions(threads = 1, onProgress = interrupting))
        }
        for (file in Files.list(to).use { it.toList() }) assertEquals(file.name, Files.readString(file))
        assertTrue(openDescriptors() < before + 10, "$before have become ${openDescriptors()}")
    }

    @Test
    fun `a cancelled coroutine ends its packing, and leaves no archive or keeps the old one`() {
        val large = dir.resolve("large").createDirectory()
        makeNumbered(large, 10)
        // Compressing it takes minutes. A reproducible archive has the zeros of its hole.
        RandomAccessFile("${large.resolve("hole")}", "rw").use { it.setLength(1L shl 40) }
        val archive = dir.resolve("archive")
        for (old in listOf(null, "old")) {
            if (old != null) Files.writeString(archive, old)
            val names = namesIn(dir)
            // A tar that is not compressed would fill the disk.
            for (format in ArchiveFormat.entries - ArchiveFormat.Tar) {
                val begun = CompletableDeferred<Unit>()
                val listener = ProgressListener { _, bytes -> if (bytes > 1 shl 20) begun.complete(Unit) }
                runBlocking {
                    val options = PackOptions(format, reproducible = true, onProgress = listener)
                    val packing = async { Smallfry.packSuspending(large, archive, options) }
                    begun.await()
                    assertEquals(1, (namesIn(dir) - names.toSet()).size, "the temporary file")
                    packing.cancel()
                    assertFailsWith<CancellationException> { packing.await() }
                }
                assertEquals(names, namesIn(dir), "$format")
                if (old != null) assertEquals(old, Files.readString(archive), "$format")
            }
        }
    }

    @Test
    fun `a cancelled coroutine ends its unpacking, and leaves only whole files`() {
        val pipe = dir.resolve("pipe")
        assertEquals(0, run("mkfifo", "$pipe"))
        val small = List(100) { "$it" }
        for (old in listOf(null, "old")) {
            if (old != null) Files.writeString(to.createDirectory().resolve("large"), old)
            val allowed = small.associateWith { it } + listOfNotNull(old?.let { "large" to it })
            runBlocking {
                val unpacking = async(Dispatchers.IO) { Smallfry.unpackSuspending(pipe, to) }
                pipe.outputStream().use { output ->
                    for (name in small) output.write(tarHeader(name, name.length) + name.toByteArray().copyOf(512))
                    output.write(tarHeader("large", Int.MAX_VALUE) + ByteArray(4 shl 20))
                    await("the large file is begun") {
                        val names = if (Files.exists(to)) namesIn(to) else emptyList()
                        (names - allowed.keys).any { to.resolve(it).toFile().length() > 0 }
                    }
                    unpacking.cancel()
                    // A read of a pipe ends only when bytes come.
                    await("the call closes the pipe") { runCatching { output.write(ByteArray(1 shl 16)) }.isFailure }
                }
                assertFailsWith<CancellationException> { unpacking.await() }
            }
            // Small files may have waited for the large one.
            for (name in namesIn(to)) assertEquals(allowed[name], Files.readString(to.resolve(name)), name)
            assertEquals(old != null, Files.exists(to.resolve("large")))
            to.removeTree()
        }
    }

    @Test
    fun `a cancelled coroutine ends its unpacking of a zip, and leaves no large file`() {
        val archive = dir.resolve("a.zip")
        val large = to.resolve("large")
        // Until a zip is so large that it is stopped in its middle.
        for (size in generateSequence(128L shl 20) { it * 2 }) {
            ZipOutputStream(archive.outputStream()).use { zip ->
                zip.putNextEntry(ZipEntry("large"))
                val piece = ByteArray(1 shl 20)
                repeat((size shr 20).toInt()) { zip.write(piece) }
            }
            runBlocking {
                val unpacking = async(Dispatchers.IO) { Smallfry.unpackSuspending(archive, to) }
                await("the file is begun") { large.toFile().length() > 0 }
                unpacking.cancelAndJoin()
            }
            if (namesIn(to).isEmpty()) return
            to.removeTree()
            check(size < 2L shl 30) { "the call goes on to its end" }
        }
    }

    /** Returns the header of a file in a tar. */
    private fun tarHeader(name: String, size: Int): ByteArray {
        val header = ByteArray(512)
        fun put(position: Int, text: String) = text.toByteArray().copyInto(header, position)
        put(0, name)
        put(100, "0000644")
        put(124, "%011o".format(size))
        put(156, "0")
        put(257, "ustar\u000000")
        // The checksum counts its own place as spaces.
        put(148, " ".repeat(8))
        put(148, "%06o\u0000".format(header.sum()))
        return header
    }

    @Test
    fun `coroutines pack and unpack`() = runBlocking {
        val archive = dir.resolve("a.tar.zst")
        Smallfry.packSuspending(from, archive)
        Smallfry.unpackSuspending(archive, to, any)
        assertSameTree(from, to)
    }
}
