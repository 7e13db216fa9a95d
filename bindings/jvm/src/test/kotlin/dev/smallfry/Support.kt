package dev.smallfry

import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.readText
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
