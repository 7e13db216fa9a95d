package dev.smallfry

import java.nio.file.Path
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.runInterruptible

/**
 * Reads files as they are collected, no further ahead than the bytes in flight allow. Cancelling the collector has nothing more
 * begun. Each collection reads anew. Needs `kotlinx-coroutines-core`.
 */
public fun Smallfry.readFlow(paths: Sequence<Path>, options: ReadOptions = ReadOptions()): Flow<ReadResult<ByteArray>> =
    flowOf { stream(paths.iterator(), options) }

/** As [readFlow], with text. */
public fun Smallfry.readTextFlow(paths: Sequence<Path>, options: ReadOptions = ReadOptions()): Flow<ReadResult<String>> =
    flowOf { streamText(paths.iterator(), options) }

private fun <T> flowOf(open: () -> ReadStream<T>): Flow<ReadResult<T>> = flow {
    open().use { stream ->
        while (runInterruptible(Dispatchers.IO) { stream.hasNext() }) emit(stream.next())
    }
}
