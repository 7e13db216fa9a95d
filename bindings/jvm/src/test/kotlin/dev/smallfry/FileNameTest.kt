package dev.smallfry

import java.nio.file.FileSystemException
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.InvalidPathException
import java.nio.file.Path
import java.nio.file.ProviderMismatchException
import kotlin.io.path.listDirectoryEntries
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import org.junit.jupiter.api.io.TempDir

/**
 * A name is bytes to the system and a string to Java: whatever the bytes and the locale are, no
 * other file must be meant.
 */
class FileNameTest {
    @TempDir
    lateinit var dir: Path

    /** Names for `printf` of a shell: not UTF-8, UTF-8, and ASCII that escaping could change. */
    private val names = listOf(
        """\377\376""", """a\303""", """\355\240\200""", """\303\244""", """\360\237\230\200""", """\357\277\275""",
        """%%41 \303\244""", """%%zz""", """a?b#c;d=e&f+g""", """ """, """a\nb""", """\\x""", """\377%%ff.txt""",
    )

    /** A file and a directory with a file in it for each name. */
    private fun makeFiles() {
        for (name in names) {
            val script = """n="$(printf '$name.')"; printf old > "$1/${'$'}n"; mkdir "$1/${'$'}n.d"; printf old > "$1/${'$'}n.d/${'$'}n""""
            assertEquals(0, run("bash", "-c", script, "bash", "$dir"), name)
        }
    }

    private fun child(locale: String, directory: Path?) {
        val child = Child("Names", arguments = listOf("$dir"))
        child.environment = mapOf("LC_ALL" to locale)
        child.directory = directory
        val ended = child.run()
        assertEquals("${2 * names.size} files\n", ended.output)
        assertEquals(2 * names.size, namesIn(dir).size, "no other files have come")
    }

    @Test
    fun `names of any bytes work where names are UTF-8`() {
        makeFiles()
        child("C.UTF-8", null)
        child("C.UTF-8", Path.of("/"))
    }

    @Test
    fun `names of any bytes work where names are ASCII`() {
        makeFiles()
        child("C", null)
        child("C", Path.of("/"))
    }

    @Test
    fun `a path of another file system is refused in all places`() {
        FileSystems.newFileSystem(dir.resolve("a.zip"), mapOf("create" to "true")).use { zip ->
            val (here, there) = Files.writeString(dir.resolve("here"), "old") to zip.getPath("/there")
            assertFailsWith<ProviderMismatchException> { there.writeBytes(ByteArray(1)) }
            assertFailsWith<ProviderMismatchException> { there.appendText("text") }
            assertFailsWith<ProviderMismatchException> { Smallfry.readAll(listOf(here, there)) }
            assertFailsWith<ProviderMismatchException> { Smallfry.readAll(listOf(here), ReadOptions(within = there)) }
            assertFailsWith<ProviderMismatchException> { Smallfry.readAll(listOf(there), ReadOptions(within = dir)) }
            assertFailsWith<ProviderMismatchException> { Smallfry.writeAll(emptyList(), WriteOptions(within = there)) }
            Smallfry.stream(listOf(here, there).iterator()).use { stream ->
                assertEquals("old", String(stream.next().value))
                assertFailsWith<ProviderMismatchException> { stream.next() }
            }
            assertFailsWith<ProviderMismatchException> { Smallfry.writeAll(listOf(FileEntry(here, "new"), FileEntry(there, ""))) }
            assertEquals("new", Files.readString(here))
        }
    }

    @Test
    fun `an invalid path is refused by Java`() {
        assertFailsWith<InvalidPathException> { Path.of("a\u0000b") }
    }
}

/** Reads and writes all files of a directory, in each way in which a path may be given. */
internal object Names {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val dir = Path.of(arguments.single())
        val all = dir.listDirectoryEntries()
        val files = all.map { if (Files.isDirectory(it)) it.listDirectoryEntries().single() else it }
        val below = files.map(dir::relativize)
        val near = files.map(Path.of("").toAbsolutePath()::relativize)
        val inside = ReadOptions(within = dir)

        check(Smallfry.readAllText(files) + Smallfry.readAllText(near) + Smallfry.readAllText(below, inside), "old")
        for (path in files) {
            path.writeText("one")
            path.appendText(" two", replace = true)
        }
        check(Smallfry.readAllText(below, inside), "one two")
        Smallfry.writeAll(near.map { FileEntry(it, "near") }, WriteOptions(replace = true)).throwIfAnyFailed()
        check(Smallfry.readAllText(files), "near")
        Smallfry.writeAll(below.map { FileEntry(it, "below") }, WriteOptions(within = dir)).throwIfAnyFailed()
        check(Smallfry.streamText(near.iterator()).use { stream -> stream.asSequence().toList() }, "below")
        for (path in files) {
            check(Files.readString(path) == "below")
            Files.writeString(path, "old")
        }

        val asked = HashSet<Path>()
        Smallfry.hashTree(dir, HashOptions(filter = { asked.add(it) }))
        check(asked == (all.map(dir::relativize) + below).toSet()) { "the filter was asked about $asked" }

        for (path in all.filter(Files::isDirectory) + files.map { it.resolve("child") } + near.map { it.resolve("child") }) {
            checkNamed(path, Smallfry.readAll(listOf(path)).single().error)
            checkNamed(path, runCatching { path.writeText("text") }.exceptionOrNull())
            checkNamed(path, Smallfry.writeAll(listOf(FileEntry(path, "text"))).errors.single())
        }
        for (path in below.map { it.resolve("child") }) checkNamed(path, Smallfry.readAll(listOf(path), inside).single().error)
        println("${files.size} files")
    }

    private fun check(results: List<ReadResult<String>>, text: String) {
        for (result in results) check(result.value == text) { "${result.path} holds ${result.value}" }
    }

    private fun checkNamed(path: Path, error: Throwable?) =
        check(error is FileSystemException && error.file == path.toString()) { "$path has the error $error" }
}
