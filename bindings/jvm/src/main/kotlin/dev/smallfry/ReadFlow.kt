package dev.smallfry

import java.nio.file.Path
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.runInterruptible

/**
 * Reads files as they are collected, and ahead as far as the bytes in flight allow. Once the
 * collector is cancelled, nothing more begins. Each collection reads the files again. Needs
 * `kotlinx-coroutines-core`.
 */
public fun Smallfry.readFlow(paths: Sequence<Path>, options: ReadOptions = ReadOptions()): Flow<ReadResult<ByteArray>> =
    flowOf { stream(paths.iterator(), options) }

/** Reads files as they are collected, as [readFlow] does, and emits their contents as text. */
public fun Smallfry.readTextFlow(paths: Sequence<Path>, options: ReadOptions = ReadOptions()): Flow<ReadResult<String>> =
    flowOf { streamText(paths.iterator(), options) }

private fun <T> flowOf(open: () -> ReadStream<T>): Flow<ReadResult<T>> = flow {
    open().use { stream ->
        while (runInterruptible(Dispatchers.IO) { stream.hasNext() }) emit(stream.next())
    }
}
