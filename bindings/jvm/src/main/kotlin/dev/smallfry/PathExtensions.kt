/**
 * [Smallfry]'s functions for one file, as `kotlin.io.path` would have them.
 *
 * Where both are imported, a call of these names with neither a charset nor open options is of these.
 */
@file:JvmSynthetic

package dev.smallfry

import java.io.IOException
import java.nio.file.Path

/** As [Smallfry.writeText]. */
@Throws(IOException::class)
public fun Path.writeText(text: CharSequence, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.writeText(this, text, durability, replace)

/** As [Smallfry.writeBytes]. */
@Throws(IOException::class)
public fun Path.writeBytes(bytes: ByteArray, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.writeBytes(this, bytes, durability, replace)

/** As [Smallfry.appendText]. */
@Throws(IOException::class)
public fun Path.appendText(text: CharSequence, durability: Durability = Durability.None, replace: Boolean = false): Unit =
    Smallfry.appendText(this, text, durability, replace)

/** As [Smallfry.appendText]. Without defaults, or else Kotlin's, which has fewer, would be preferred where both are imported. */
@Throws(IOException::class)
public fun Path.appendText(text: CharSequence): Unit = Smallfry.appendText(this, text)
