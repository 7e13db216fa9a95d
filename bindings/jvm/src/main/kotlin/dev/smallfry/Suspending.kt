/**
 * The functions of [Smallfry] for trees, archives and digests, as functions that suspend. They need
 * `kotlinx-coroutines-core`, and work on `Dispatchers.IO`.
 *
 * Cancelling the coroutine stops the call as an interrupt stops the blocking one: what is done
 * stays done, no file is left half, and the coroutine ends when nothing works for it any more.
 * Listeners of progress and filters are called on a thread of that dispatcher.
 *
 * ```
 * withTimeout(30.seconds) { Path("public").copyTreeSuspending(Path("dist")) }
 * ```
 */
@file:JvmSynthetic

package dev.smallfry

import java.nio.channels.ClosedByInterruptException
import java.nio.file.Path
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runInterruptible

/** Copies a tree, as [Smallfry.copyTree] does. */
public suspend fun Path.copyTreeSuspending(to: Path, options: CopyTreeOptions = CopyTreeOptions()): TreeCounts =
    suspending { Smallfry.copyTree(this, to, options) }

/** Mirrors a tree, as [Smallfry.mirrorTree] does. */
public suspend fun Path.mirrorTreeSuspending(to: Path, options: MirrorTreeOptions = MirrorTreeOptions()): MirrorReport =
    suspending { Smallfry.mirrorTree(this, to, options) }

/** Removes a tree, as [Smallfry.removeTree] does. */
public suspend fun Path.removeTreeSuspending(options: RemoveTreeOptions = RemoveTreeOptions()): TreeCounts =
    suspending { Smallfry.removeTree(this, options) }

/** Unpacks an archive, as [Smallfry.unpack] does. */
public suspend fun Smallfry.unpackSuspending(archive: Path, to: Path, options: UnpackOptions = UnpackOptions()): TreeCounts =
    suspending { unpack(archive, to, options) }

/** Packs a tree, as [Smallfry.pack] does. */
public suspend fun Smallfry.packSuspending(from: Path, archive: Path, options: PackOptions = PackOptions()): TreeCounts =
    suspending { pack(from, archive, options) }

/** Hashes a tree, as [Smallfry.hashTree] does. */
public suspend fun Smallfry.hashTreeSuspending(path: Path, options: HashOptions = HashOptions()): Digest =
    suspending { hashTree(path, options) }

/** Hashes many files, as [Smallfry.hashFiles] does. */
public suspend fun Smallfry.hashFilesSuspending(paths: Collection<Path>, options: HashOptions = HashOptions()): List<ReadResult<Digest>> =
    suspending { hashFiles(paths, options) }

private suspend fun <T> suspending(call: () -> T): T = runInterruptible(Dispatchers.IO) {
    try {
        call()
    } catch (error: ClosedByInterruptException) {
        throw InterruptedException().initCause(error)
    }
}
