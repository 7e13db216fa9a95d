package dev.smallfry

import java.io.File
import java.nio.file.Files
import java.nio.file.Path
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Properties of a whole process: its end with work in flight, correct calls of JNI, and memory that
 * Java does not see.
 */
class ProcessTest {
    @TempDir
    lateinit var directory: Path

    @Test
    fun `the process may end at any moment`() {
        for (how in listOf("exit", "halt", "return")) {
            repeat(4) { round ->
                val ended = Child("Ending", arguments = listOf("$directory/$how$round", how, "${round * 15}")).run()
                assertEquals(if (how == "return") 0 else 7, ended.code, ended.output)
            }
        }
    }

    @Test
    fun `the checks of JNI find nothing wrong`() {
        val ended = Child("CheckedWork", listOf("-Xcheck:jni"), listOf("$directory")).run()
        assertTrue("done" in ended.output, ended.output)
        val warnings = ended.output.lines().filter { "WARNING" in it || "FATAL" in it }
        assertEquals(emptyList(), warnings)
    }

    @Test
    fun `too little memory is an OutOfMemoryError, and the next call works`() {
        val files = List(60) { Files.write(directory.resolve("$it"), ByteArray(if (it % 2 == 0) 4 shl 20 else 20_000)) }
        for (threads in listOf(0, 1, 8)) {
            val ended = Child("Exhausting", listOf("-Xmx48m", "-Xcheck:jni"), listOf("$threads") + files.map { "$it" }).run()
            assertEquals("too much, then ${4 shl 20}\n", ended.output)
        }
    }

    @Test
    fun `too little memory outside of the heap is an OutOfMemoryError of a write`() {
        // If there is no such program, starting it fails with an exception.
        if (runCatching { run("prlimit", "--version") }.getOrNull() != 0) {
            check(System.getenv("CI") != "true") { "prlimit is needed to limit memory" }
            return println("skipped: there is no prlimit")
        }
        val ended = Child("Confined", listOf("-Xmx512m", "-Xcheck:jni"), listOf("$directory")).run()
        assertEquals("too much, too much, then 3 and 5\n", ended.output)
    }

    @Test
    fun `the end of the stack is a StackOverflowError, and the process goes on`() {
        val ended = Child("Deep", arguments = listOf("$directory")).run()
        assertEquals(listOf("write", "append", "writeAll", "readAll", "stream", "copyTree").map { "$it: both" }, ended.output.trim().lines())
    }

    @Test
    fun `memory does not grow with the number of calls`() {
        if (!Files.exists(Path.of("/proc/self/status"))) return println("skipped: there is no /proc")
        val calls = System.getenv("SMALLFRY_TEST_CALLS") ?: "100000"
        val ended = Child("ManyCalls", listOf("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"), listOf("$directory", calls)).run()
        val grown = ended.output.lines().first { it.startsWith("grown ") }.removePrefix("grown ").toLong()
        println("after $calls calls of each kind the process has grown by $grown KiB")
        assertTrue(grown < 8 * 1024, ended.output)
    }
}

/** Ends the process during work. */
object Ending {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val (directory, how, after) = arguments
        Work.some("$directory/first")
        repeat(4) { number ->
            thread(isDaemon = true) { while (true) runCatching { Work.some("$directory/$number") } }
        }
        Thread.sleep(after.toLong())
        when (how) {
            "exit" -> exitProcess(7)
            "halt" -> Runtime.getRuntime().halt(7)
        }
    }
}

object CheckedWork {
    @JvmStatic
    fun main(arguments: Array<String>) {
        repeat(3) { Work.some("${arguments.single()}/$it") }
        println("done")
    }
}

object ManyCalls {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val directory = Path.of(arguments[0])
        val calls = arguments[1].toInt()
        round(directory, calls / 10)
        val before = resident()
        round(directory, calls)
        println("grown ${resident() - before}")
    }

    private fun round(directory: Path, calls: Int) {
        val path = directory.resolve("a")
        val paths = List(100) { directory.resolve("$it") }
        repeat(calls) { path.writeText("text") }
        repeat(calls / 10) { runCatching { directory.writeText("text") } }
        repeat(calls / 1_000) {
            Smallfry.writeAll(paths.map { FileEntry(it, "text ".repeat(100)) }).throwIfAnyFailed()
            // Their threads become the JVM's, and cease to be.
            Smallfry.readAll(paths + directory, ReadOptions(threads = 4)).forEach { it.valueOrNull }
            Smallfry.stream(paths.iterator()).next()
            if (File.separatorChar == '/') {
                Smallfry.hashFiles(paths + directory)
                Smallfry.hashTree(paths[0])
                runCatching { directory.copyTree(path) }
            }
        }
        await("streams that nobody has closed are freed") { nativeThreads() == 0 }
    }

    private fun resident() = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("VmRSS:") }.filter(Char::isDigit).toLong()
}

/** Reads more than there is memory for, then little. */
object Exhausting {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val options = ReadOptions(threads = arguments.first().toInt())
        val paths = arguments.drop(1).map { Path.of(it) }
        try {
            println("${Smallfry.readAllText(paths, options).size} files read in too little memory")
        } catch (_: OutOfMemoryError) {
            print("too much, ")
        }
        println("then ${Smallfry.readAll(paths.take(1), options).single().value.size}")
    }
}

/** Writes more than there is memory for outside of the heap, then little. */
object Confined {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val directory = Path.of(arguments.single())
        val (small, many, big) = listOf("small", "many", "big").map(directory::resolve)
        val bytes = ByteArray(300 shl 20)
        // The first round allocates what is needed in any case.
        Smallfry.writeAll(listOf(FileEntry(small, "")), WriteOptions(threads = 1))
        val size = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("VmSize:") }.filter(Char::isDigit).toLong()
        check(run("prlimit", "--pid", "${ProcessHandle.current().pid()}", "--as=${size * 1024 + (200 shl 20)}") == 0)
        try {
            big.writeBytes(bytes)
            println("300 MiB written in too little memory")
        } catch (_: OutOfMemoryError) {
            print("too much, ")
        }
        try {
            Smallfry.writeAll(listOf(FileEntry(many, "abc"), FileEntry(big, bytes)), WriteOptions(threads = 1))
            println("300 MiB written in too little memory")
        } catch (_: OutOfMemoryError) {
            print("too much, ")
        }
        small.writeText("small")
        println("then ${Files.size(many)} and ${Files.size(small)}")
    }
}

/** Calls from everywhere near the end of a stack. */
class Deep(private val act: () -> Unit) {
    private var ended = false
    private var done = 0
    private var overflowed = 0

    private fun descend() {
        try {
            descend()
        } catch (_: StackOverflowError) {
            ended = true
        }
        if (!ended || done >= ENOUGH) return
        try {
            act()
            done++
        } catch (_: StackOverflowError) {
            overflowed++
        }
    }

    private fun outcome(): String {
        act()
        Thread(null, ::descend, "deep", 1 shl 20).apply { start() }.join()
        act()
        return if (done > 0 && overflowed > 0) "both" else "$done done, $overflowed not"
    }

    companion object {
        private const val ENOUGH = 100

        @JvmStatic
        fun main(arguments: Array<String>) {
            val directory = Path.of(arguments.single())
            val (path, missing) = listOf(directory.resolve("a"), directory.resolve("b/c"))
            val acts = mapOf(
                "write" to { path.writeText("text") },
                "append" to {
                    Files.deleteIfExists(path)
                    path.appendText("text", Durability.Data, replace = true)
                },
                "writeAll" to { Smallfry.writeAll(listOf(path, missing).map { FileEntry(it, "text") }) },
                "readAll" to { Smallfry.readAllText(listOf(path, missing), ReadOptions(threads = 4)) },
                "stream" to { Smallfry.stream(listOf(path, missing).iterator()).use { it.asSequence().count() } },
                "copyTree" to { directory.resolve("missing").runCatching { copyTree(path) }.exceptionOrNull().let { if (it is Error) throw it } },
            )
            for ((name, act) in acts) println("$name: ${Deep { act() }.outcome()}")
        }
    }
}
