package dev.smallfry.elsewhere

import dev.smallfry.*
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import kotlin.io.path.*
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Calls from another package that also imports all of `kotlin.io.path`: a call could be ambiguous,
 * or go to Kotlin.
 */
class ImportTest {
    @TempDir
    lateinit var directory: Path

    @Test
    fun `calls that both libraries have go to smallfry`() {
        val path = directory.resolve("missing/a")
        for (call in listOf<() -> Unit>(
            { path.writeText("a") },
            { path.writeBytes(byteArrayOf(1)) },
            { path.appendText("a") },
        )) {
            // Kotlin's own error has no reason in it.
            assertReasonBeginsWith("open", assertFailsWith<NoSuchFileException> { call() })
        }
    }

    @Test
    fun `calls with a charset go to Kotlin`() {
        val path = directory.resolve("a")
        path.writeText("ab", Charsets.UTF_16BE)
        path.appendText("c", Charsets.UTF_16BE)
        assertEquals("abc", path.readText(Charsets.UTF_16BE))
    }
}
