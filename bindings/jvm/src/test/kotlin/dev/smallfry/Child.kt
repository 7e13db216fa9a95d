package dev.smallfry

import java.io.File
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.Path
import kotlin.test.assertTrue

/** A JVM of its own, for what would end or spoil that of the tests. */
class Child(private val main: String, private val flags: List<String> = emptyList(), private val arguments: List<String> = emptyList()) {
    /** Added to the environment of the tests. */
    var environment: Map<String, String> = emptyMap()

    /** The working directory, if it is not one of its own. */
    var directory: Path? = null

    class Ended(val code: Int, val output: String)

    fun run(): Ended {
        val java = Path(System.getProperty("java.home"), "bin", "java").toString()
        val dir = kotlin.io.path.createTempDirectory("smallfry-child-")
        val output = dir.resolve("output").toFile()
        val native = if (Runtime.version().feature() >= 24) listOf("--enable-native-access=ALL-UNNAMED") else emptyList()
        val report = listOf("-XX:ErrorFile=$dir/hs_err_pid%p.log")
        val command = listOf(java) + report + native + flags + listOf("-cp", CLASS_PATH, "dev.smallfry.$main") + arguments
        try {
            val builder = ProcessBuilder(command).directory((directory ?: dir).toFile())
            builder.environment() += environment
            val process = builder.redirectErrorStream(true).redirectOutput(output).start()
            check(process.waitFor(120, TimeUnit.SECONDS)) {
                process.destroyForcibly()
                "it hangs, and has printed:\n${output.readText()}"
            }
            val text = output.readText()
            assertTrue(dir.toFile().list().orEmpty().none { it.startsWith("hs_err") } && "SIGSEGV" !in text, text)
            return Ended(process.exitValue(), text)
        } finally {
            dir.toFile().deleteRecursively()
        }
    }

    companion object {
        val CLASS_PATH: String = System.getProperty("surefire.test.class.path") ?: System.getProperty("java.class.path")

        val urls get() = CLASS_PATH.split(File.pathSeparator).map { File(it).toURI().toURL() }.toTypedArray()

        fun temporary(): Path = kotlin.io.path.createTempDirectory("smallfry-test-")
    }
}
