/**
 * [Smallfry]'s functions for one file, as extensions like those of `kotlin.io.path`.
 *
 * If both are imported, a call with neither a charset nor open options is one of these.
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

/**
 * As [Smallfry.appendText]. It has no defaults: Kotlin's function, which has fewer, would be
 * preferred if both are imported.
 */
@Throws(IOException::class)
public fun Path.appendText(text: CharSequence): Unit = Smallfry.appendText(this, text)
