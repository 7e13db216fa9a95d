package dev.smallfry

import java.nio.file.AccessDeniedException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption.APPEND
import java.nio.file.StandardOpenOption.CREATE
import kotlin.io.path.createDirectory
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNotNull
import kotlin.test.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.io.TempDir

/**
 * An error must be the one that `java.nio.file` has for it, name the file as the caller did, and
 * leave nothing behind.
 */
class ErrorTest {
    @TempDir
    lateinit var dir: Path

    private val file: Path
        get() = dir.resolve("file")

    private val cycle: Path
        get() = dir.resolve("cycle")

    /** Paths to which not even the superuser can write. */
    private val badTargets: List<Path>
        get() = listOf(
            dir.resolve("directory"),
            file.resolve("child"),
            dir.resolve("missing/child"),
            cycle,
            cycle.resolve("child"),
            dir.resolve("n".repeat(256)),
            Path.of("/proc/smallfry"),
            Path.of("/"),
            Path.of(""),
            Path.of("no such directory", "..", "child"),
        )

    @BeforeEach
    fun `make files`() {
        dir.resolve("directory").createDirectory()
        Files.writeString(file, "old")
        cycle.createSymbolicLinkPointingTo(Path.of("cycle"))
    }

    private fun errorOf(body: () -> Unit): FileSystemException = assertFailsWith<FileSystemException> { body() }

    private fun assertSame(expected: FileSystemException, actual: FileSystemException?, path: Path) {
        assertNotNull(actual, "$path")
        assertEquals(expected.javaClass, actual.javaClass, "$actual, where Java says $expected")
        assertEquals("$path", actual.file)
        assertReasonBeginsWith("open", actual)
        // Java adds a guess of its own to some.
        assertTrue(expected.reason.orEmpty().substringBefore(" or unable") in actual.reason, "$actual, where Java says $expected")
    }

    @Test
    fun `a failed write fails as in Java`() {
        for (path in badTargets) {
            val expected = errorOf { Files.writeString(path, "text") }
            assertSame(expected, errorOf { path.writeText("text") }, path)
            assertSame(expected, errorOf { path.writeText("text", Durability.Data) }, path)
            assertSame(expected, errorOf { path.writeBytes(ByteArray(2 shl 20)) }, path)
            assertSame(expected, Smallfry.writeAll(listOf(FileEntry(path, "text"))).errors.single(), path)
        }
    }

    @Test
    fun `a failed addition fails as in Java`() {
        for (path in badTargets) {
            val expected = errorOf { Files.writeString(path, "text", CREATE, APPEND) }
            assertSame(expected, errorOf { path.appendText("text") }, path)
        }
    }

    @Test
    fun `a failed replacement has the class and path of Java, and leaves no temporary file`() {
        val names = namesIn(dir)
        for (path in badTargets) {
            val expected = errorOf { Files.writeString(path, "text") }
            for (level in Durability.entries) {
                val errors = listOf(
                    errorOf { path.writeText("text", level, replace = true) },
                    errorOf { path.appendText("text", level, replace = true) },
                    Smallfry.writeAll(listOf(FileEntry(path, "text")), WriteOptions(level, replace = true)).errors.single(),
                )
                for (error in errors) assertEquals(expected.javaClass to "$path", error.javaClass to error.file, "$error")
            }
        }
        assertEquals(names, namesIn(dir))
    }

    @Test
    fun `a failed read fails as in Java`() {
        val paths = listOf(file.resolve("child"), dir.resolve("missing"), cycle, Path.of("no such directory", "child"))
        for ((path, result) in paths.zip(Smallfry.readAll(paths))) {
            val expected = errorOf { Files.readAllBytes(path) }
            assertSame(expected, result.error, path)
            assertSame(expected, Smallfry.stream(listOf(path).iterator()).use { it.next().error }, path)
        }
        val directory = Smallfry.readAll(listOf(dir)).single().error
        assertEquals(FileSystemException::class.java, directory?.javaClass)
        assertReasonBeginsWith("read", directory)
    }

    @Test
    fun `a full device is an error with its path`() {
        val device = Path.of("/dev/full")
        if (!Files.exists(device)) return println("skipped: there is no /dev/full")
        val errors = listOf(
            errorOf { device.appendText("text") },
            errorOf { device.writeBytes(ByteArray(2 shl 20)) },
            Smallfry.writeAll(listOf(FileEntry(device, "text"))).errors.single(),
        )
        for (error in errors) {
            assertEquals(FileSystemException::class.java to "$device", error.javaClass to error.file)
            assertReasonBeginsWith("write", error)
            assertTrue("No space left on device" in error.reason, "$error")
        }
    }

    @Test
    fun `createNew gives a FileAlreadyExistsException for an existing file`() {
        val error = Smallfry.writeAll(listOf(FileEntry(file, "new")), WriteOptions(createNew = true)).errors.single()
        assertIs<FileAlreadyExistsException>(error)
        assertEquals("$file", error.file)
        assertReasonBeginsWith("open", error)
        assertEquals("old", Files.readString(file))
    }

    @Test
    fun `writing without permission gives an AccessDeniedException`() {
        Files.setPosixFilePermissions(file, emptySet())
        // The superuser may write to all but what the kernel itself forbids.
        val candidates = listOf(file, Path.of("/sys/kernel/uevent_seqnum"), Path.of("/sys/kernel/vmcoreinfo"))
        val denied = candidates.filter { path ->
            runCatching { Files.newByteChannel(path, APPEND).close() }.exceptionOrNull() is AccessDeniedException
        }
        if (denied.isEmpty()) println("skipped: this user may write everything")
        for (path in denied) {
            val error = assertFailsWith<AccessDeniedException> { path.appendText("text") }
            assertEquals("$path", error.file)
            assertReasonBeginsWith("open", error)
        }
    }

    @Test
    fun `a parent directory that cannot be made has the error`() {
        val nowhere = dir.resolve("nowhere").createSymbolicLinkPointingTo(Path.of("missing"))
        val entry = FileEntry(nowhere.resolve("child"), "text")
        val error = Smallfry.writeAll(listOf(entry), WriteOptions(createParents = true)).errors.single()
        assertReasonBeginsWith("mkdir", error)
        assertEquals("$nowhere", error.file)
    }

    @Test
    fun `options that exclude each other are an error of each file`() {
        val report = Smallfry.writeAll(listOf(FileEntry(file, "new")), WriteOptions(onlyIfChanged = true, createNew = true))
        assertEquals("$file", report.errors.single().file)
        assertEquals("old", Files.readString(file))
    }

    @Test
    fun `nothing stays open after errors`() {
        fun fail() {
            for (path in badTargets) {
                runCatching { path.appendText("text", Durability.Data) }
                runCatching { path.writeText("text", Durability.Full, replace = true) }
            }
            Smallfry.writeAll(badTargets.map { FileEntry(it, "text") })
            Smallfry.readAll(badTargets, ReadOptions(within = dir))
            runCatching { Smallfry.readAll(badTargets, ReadOptions(within = file)) }
        }
        fail()
        val before = openDescriptors()
        repeat(100) { fail() }
        // The JVM opens files of its own, though not for each call.
        assertTrue(openDescriptors() < before + 50, "$before have become ${openDescriptors()}")
    }
}
