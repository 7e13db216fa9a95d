package dev.smallfry

import java.nio.channels.ClosedByInterruptException
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.readText
import kotlin.test.assertEquals
import kotlin.test.assertTrue

internal fun namesIn(directory: Path): List<String> = directory.listDirectoryEntries().map { it.name }.sorted()

/** Numbered files that hold their numbers. */
internal fun makeNumbered(directory: Path, count: Int): List<Path> =
    List(count) { Files.writeString(directory.resolve("$it"), "$it") }

internal fun assertReasonBeginsWith(operation: String, error: FileSystemException?) =
    assertTrue(error?.reason.orEmpty().startsWith("$operation: "), "$error")

internal fun openDescriptors(): Int = Path.of("/proc/self/fd").listDirectoryEntries().size

/** Threads of the native half in this process. */
internal fun nativeThreads(): Int = Path.of("/proc/self/task").listDirectoryEntries().count { task ->
    // A thread may end while it is looked at.
    runCatching { task.resolve("comm").readText().trim() }.getOrNull() == "smallfry"
}

/**
 * Asks again and again, with the collector at work, since nothing tells of what others do in their
 * own time.
 */
internal fun await(what: String, isSo: () -> Boolean) {
    repeat(1_000) {
        if (isSo()) return
        System.gc()
        Thread.sleep(10)
    }
    throw AssertionError("in vain: $what")
}

internal fun run(vararg command: String): Int =
    ProcessBuilder(*command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor()

/** Makes a tree with all kinds of entries that can be copied, and names that are not UTF-8. */
internal fun makeTree(root: Path) {
    val script = """
        set -e
        mkdir -p "$1/a/b/c" "$1/empty" && cd "$1"
        printf text > a/file; printf '' > a/b/none; head -c 300000 /dev/zero | tr '\0' x > a/b/large
        ln -s a/file link; ln -s /nowhere a/absolute; ln -s b a/directory
        ln a/file name; ln a/b/large a/b/c/name
        printf odd > "$(printf '\377\376')"; mkdir "$(printf 'a\303')"; printf odd > "$(printf 'a\303/\360\237\230\200')"
        truncate -s 1M a/sparse; printf end >> a/sparse
        chmod 751 a/b; chmod 640 a/file; chmod 400 a/b/none; chmod 711 a/b/large
        find . -exec touch -h -d '2001-02-03 04:05:06.789' {} +
    """.trimIndent()
    check(run("bash", "-c", script, "bash", "$root") == 0)
}

/** Returns what `find -printf` prints of each entry of a tree. */
internal fun entriesOf(root: Path, format: String): List<String> {
    val finding = ProcessBuilder("find", "$root", "-printf", "$format\\0").start()
    val output = finding.inputStream.readBytes()
    check(finding.waitFor() == 0)
    // Names need not be UTF-8.
    return String(output, Charsets.ISO_8859_1).split('\u0000').dropLast(1).sorted()
}

/** Compares names, kinds, permissions, targets of links, numbers of names, and contents. */
internal fun assertSameTree(expected: Path, actual: Path) {
    assertEquals(entriesOf(expected, "%P %y %m %l"), entriesOf(actual, "%P %y %m %l"))
    // The sizes and links of directories differ between file systems.
    fun files(root: Path) = entriesOf(root, "%y %P %n %s").filter { it.startsWith("f") }
    assertEquals(files(expected), files(actual))
    assertEquals(0, run("diff", "-r", "--no-dereference", "$expected", "$actual"))
}

/**
 * Makes calls of more and more work, whose listener interrupts their thread, until one of them is
 * stopped in its middle.
 */
internal fun untilInterrupted(call: (size: Int, interrupting: ProgressListener) -> Unit) {
    for (size in generateSequence(4_000) { it * 2 }) {
        val thrown = runCatching { call(size) { _, _ -> Thread.currentThread().interrupt() } }.exceptionOrNull()
        assertTrue(Thread.interrupted(), "the thread stays interrupted")
        if (thrown is ClosedByInterruptException) return
        if (thrown != null) throw thrown
        check(size < 1_000_000) { "no call was stopped" }
    }
}
