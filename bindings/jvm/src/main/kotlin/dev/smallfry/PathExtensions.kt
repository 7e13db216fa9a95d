/**
 * The functions of [Smallfry] for one file or tree, as extensions of [Path].
 *
 * `kotlin.io.path` has extensions with the same names. If both packages are imported, a call with
 * neither a charset nor open options calls smallfry.
 */
@file:JvmSynthetic

package dev.smallfry

import java.io.IOException
import java.nio.file.Path

/** Writes a whole file, as [Smallfry.writeText] does. */
@Throws(IOException::class)
public fun Path.writeText(text: CharSequence, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.writeText(this, text, durability, replace)

/** Writes a whole file, as [Smallfry.writeBytes] does. */
@Throws(IOException::class)
public fun Path.writeBytes(bytes: ByteArray, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.writeBytes(this, bytes, durability, replace)

/** Adds to the end of a file, as [Smallfry.appendText] does. */
@Throws(IOException::class)
public fun Path.appendText(text: CharSequence, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.appendText(this, text, durability, replace)

/**
 * Adds to the end of a file, as [Smallfry.appendText] does.
 *
 * This overload has no default arguments. Without it Kotlin would prefer its own function, which
 * has fewer parameters, if both are imported.
 */
@Throws(IOException::class)
public fun Path.appendText(text: CharSequence): Unit = Smallfry.appendText(this, text)

/** Copies a tree, as [Smallfry.copyTree] does. */
@Throws(IOException::class)
public fun Path.copyTree(to: Path, options: CopyTreeOptions = CopyTreeOptions()): TreeCounts = Smallfry.copyTree(this, to, options)

/** Mirrors a tree, as [Smallfry.mirrorTree] does. */
@Throws(IOException::class)
public fun Path.mirrorTree(to: Path, options: MirrorTreeOptions = MirrorTreeOptions()): MirrorReport =
    Smallfry.mirrorTree(this, to, options)

/** Removes a tree, as [Smallfry.removeTree] does. */
@Throws(IOException::class)
public fun Path.removeTree(options: RemoveTreeOptions = RemoveTreeOptions()): TreeCounts = Smallfry.removeTree(this, options)
