package dev.smallfry

import java.io.File
import java.net.URLClassLoader
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.createDirectory
import kotlin.io.path.writeText
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * The native library must load wherever it can, leave nothing behind, and say what was tried where
 * it cannot.
 */
class LoadingTest {
    @TempDir
    lateinit var directory: Path

    /**
     * Returns the output of a child, without the warning of newer JVMs of a missing temporary
     * directory.
     */
    private fun child(vararg flags: String): String {
        val ended = Child("LoadingTestKt", flags.toList(), listOf(directory.resolve("a").toString())).run()
        return ended.output.lines().filterNot { it.startsWith("WARNING: java.io.tmpdir") }.joinToString("\n")
    }

    private fun temporary(path: Path) = "-Djava.io.tmpdir=$path"

    private fun home(path: Path) = "-Duser.home=$path"

    @Test
    fun `the library is unpacked into the temporary directory, which is empty afterwards`() {
        val tmp = directory.resolve("tmp").createDirectory()
        val ended = child(temporary(tmp))
        assertEquals("loaded\nloaded\n", ended)
        assertEquals(emptyList(), tmp.toFile().list()?.toList())
    }

    @Test
    fun `the library is unpacked into a new directory of the user alone`() {
        val made = List(2) { NativeLibrary.makeDirectory(directory) }
        assertEquals(2, made.toSet().size)
        for (path in made) assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
    }

    @Test
    fun `without a temporary directory the library is unpacked into the cache of the user`() {
        directory.resolve("home/.cache").let(Files::createDirectories)
        val ended = child(temporary(directory.resolve("none")), home(directory.resolve("home")))
        assertEquals("loaded\nloaded\n", ended)
        assertEquals(emptyList(), directory.resolve("home/.cache").toFile().list()?.toList())
    }

    @Test
    fun `if no directory serves, each call says what was tried`() {
        val ended = child(temporary(directory.resolve("none")), home(directory.resolve("neither")))
        val lines = ended.lines().filter { it.isNotEmpty() }
        assertEquals(2, lines.size, ended)
        for (line in lines) {
            for (part in listOf("UnsatisfiedLinkError", "/none", "/neither/.cache", "-D${NativeLibrary.PROPERTY}=")) {
                assertTrue(part in line, line)
            }
        }
    }

    @Test
    fun `a fixed path serves where files may not be run or nothing be written`() {
        for (option in listOf("noexec", "ro")) {
            val mount = directory.resolve(option).createDirectory()
            val mounted = ProcessBuilder("mount", "-t", "tmpfs", "-o", option, "tmpfs", "$mount").start().waitFor() == 0
            if (!mounted) {
                check(System.getenv("CI") != "true") { "root is needed to mount" }
                return println("skipped: a directory where files may not be run, which takes root")
            }
            try {
                val refused = child(temporary(mount), home(directory.resolve("none")))
                assertTrue("UnsatisfiedLinkError" in refused && "$mount" in refused, refused)
                assertEquals(emptyList(), mount.toFile().list()?.toList())
                val library = unpacked(directory.resolve("library-$option"))
                val ended = child(temporary(mount), "-D${NativeLibrary.PROPERTY}=$library")
                assertEquals("loaded\nloaded\n", ended)
            } finally {
                ProcessBuilder("umount", "$mount").start().waitFor()
            }
        }
    }

    private fun unpacked(to: Path): Path {
        val name = System.mapLibraryName("smallfry_jvm")
        val resource = Smallfry::class.java.getResourceAsStream("native/${NativeLibrary.system}/$name")!!
        return to.also { resource.use { from -> Files.copy(from, it) } }
    }

    @Test
    fun `the library is that of the processor and of the C library that the JVM itself has`() {
        val gnu = "7f3a10000000-7f3a10028000 r--p 00000000 fe:00 1234      /usr/lib/x86_64-linux-gnu/libc.so.6"
        val gnu228 = "7f3a10000000-7f3a10028000 r--p 00000000 fe:00 1234      /lib64/libc-2.28.so"
        val alpine = "7f3a10000000-7f3a10014000 r--p 00000000 fe:00 1234      /lib/ld-musl-x86_64.so.1"
        val void = "7f3a10000000-7f3a10014000 r--p 00000000 fe:00 1234        /usr/lib/libc.so"
        val jvm = "7f3a20000000-7f3a21000000 r-xp 00000000 fe:00 1235         /usr/lib/jvm/lib/server/libjvm.so"
        val named = { os: String, arch: String, files: List<String> -> NativeLibrary.nameOf(os, arch) { files + jvm } }
        assertEquals("linux-x64-gnu", named("Linux", "amd64", listOf(gnu)))
        assertEquals("linux-arm64-gnu", named("Linux", "aarch64", listOf(gnu228)))
        assertEquals("linux-x64-musl", named("Linux", "amd64", listOf(alpine)))
        assertEquals("linux-arm64-musl", named("Linux", "aarch64", listOf(void)))
        assertEquals("linux-riscv64-gnu", named("Linux", "riscv64", emptyList()))
        assertEquals("win32-x64-msvc", named("Windows Server 2025", "amd64", emptyList()))
        assertEquals("darwin-x64", named("Mac OS X", "x86_64", emptyList()))
        assertEquals("darwin-arm64", named("Mac OS X", "aarch64", emptyList()))
        assertEquals("freebsd-x64", named("FreeBSD", "amd64", emptyList()))
    }

    @Test
    fun `a wrong fixed path is an error that names it`() {
        val garbage = directory.resolve("garbage").also { it.writeText("no library") }
        for (path in listOf(garbage, directory.resolve("missing"))) {
            val ended = child("-D${NativeLibrary.PROPERTY}=$path")
            assertTrue("UnsatisfiedLinkError" in ended && "$path" in ended, ended)
        }
    }

    @Test
    fun `two class loaders have a library each, and one may go`() {
        val ended = Child("TwoLoaders", arguments = listOf("$directory")).run()
        assertEquals("done\n", ended.output)
    }
}

/** Writes a file, twice, and says how that went. */
fun main(arguments: Array<String>) = repeat(2) {
    try {
        Smallfry.writeText(Path.of(arguments.single()), "text")
        println("loaded")
    } catch (error: UnsatisfiedLinkError) {
        println(error)
    }
}

/**
 * Loads the same classes repeatedly, each time by another class loader that is then dropped with
 * work in flight.
 */
object TwoLoaders {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val directory = arguments.single()
        repeat(10) { round ->
            URLClassLoader(Child.urls, ClassLoader.getPlatformClassLoader()).use { loader ->
                val work = loader.loadClass("dev.smallfry.Work")
                work.getMethod("some", String::class.java).invoke(null, "$directory/$round")
            }
            System.gc()
            Work.some("$directory/own$round")
        }
        println("done")
    }
}

/** A bit of everything. */
object Work {
    @JvmStatic
    fun some(directory: String) {
        val paths = List(200) { Path.of(directory, "$it") }
        val entries = paths.map { FileEntry(it, "text ".repeat(500)) }
        Smallfry.writeAll(entries, WriteOptions(createParents = true, threads = 4)).throwIfAnyFailed()
        Smallfry.writeAll(entries, WriteOptions(Durability.Full, replace = true)).throwIfAnyFailed()
        check(Smallfry.readAllText(paths + Path.of(directory, "missing"), ReadOptions(threads = 4)).count { it.error == null } == 200)
        Smallfry.stream(paths.iterator(), ReadOptions(threads = 2)).next()
        paths[0].writeText("more", Durability.Data)
        paths[0].appendText("more", replace = true)
        runCatching { Path.of(directory).writeText("a") }
        if (File.separatorChar == '/') trees(Path.of(directory))
        runCatching { Smallfry.writeAll(sequence<FileEntry> { error("thrown") }.asIterable()) }
        runCatching { Smallfry.readAll(listOf(paths[0]), ReadOptions(within = Path.of(directory, "none"))) }
    }

    private fun trees(directory: Path) {
        val copy = directory.resolveSibling("${directory.fileName}.copy")
        copy.removeTree(RemoveTreeOptions(missingOk = true))
        directory.copyTree(copy, CopyTreeOptions(threads = 4))
        runCatching { directory.copyTree(directory.resolve("copy")) }
        runCatching { directory.copyTree(copy, CopyTreeOptions(onProgress = { _, _ -> error("thrown") })) }
        directory.mirrorTree(copy, MirrorTreeOptions(dryRun = true, threads = 4))
        val archive = copy.resolveSibling("${copy.fileName}.tar")
        Smallfry.pack(directory, archive, PackOptions(threads = 4))
        Smallfry.unpack(archive, copy, UnpackOptions(threads = 4))
        runCatching { Smallfry.unpack(copy.resolve("0"), copy) }
        runCatching { Smallfry.pack(directory, archive, PackOptions(exclude = listOf("["))) }
        check(Smallfry.hashTree(copy) == Smallfry.hashTree(directory, HashOptions(threads = 4)))
        check(Smallfry.hashFiles(listOf(archive, copy)).count { it.error == null } == 1)
        Files.delete(archive)
        copy.removeTree()
    }
}
