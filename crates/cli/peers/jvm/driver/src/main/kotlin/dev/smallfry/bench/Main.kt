package dev.smallfry.bench

import com.google.gson.Gson
import com.google.gson.JsonObject
import java.io.File
import java.lang.management.ManagementFactory
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.Path

/**
 * The process of a row in the JVM: obeys the requests of `protocol.rs` from standard input until it
 * ends.
 */
fun main(arguments: Array<String>) {
    val launch = json.fromJson(arguments.last(), JsonObject::class.java)
    val functions = launch["functions"].asString
    warmsUp = launch["warm_up"].asBoolean
    send("hello" to mapOf("version" to "JDK ${Runtime.version().feature()}", "load_ns" to 0))
    while (true) {
        val request = json.fromJson(readlnOrNull() ?: return, JsonObject::class.java)
        try {
            send("many" to run(functions, request))
        } catch (@Suppress("TooGenericExceptionCaught") error: Throwable) {
            // Every error belongs to the row.
            send("failure" to failure(error))
        }
    }
}

private val json = Gson()

/** False where the bench counts the system calls of the row. */
private var warmsUp = false

/**
 * Runs `body` with a directory, in memory where the system has one, so that the functions that it
 * calls get compiled.
 */
fun warmUp(body: (Path) -> Unit) {
    if (!warmsUp) return
    // The meter loads its classes now. A class that is loaded later, such as another charset, makes
    // compiled code void that relied on its absence.
    Meter().stop()
    val memory = Path.of("/dev/shm").takeIf(Files::isWritable)
    val directory = if (memory != null) Files.createTempDirectory(memory, PREFIX) else Files.createTempDirectory(PREFIX)
    try {
        body(directory)
    } finally {
        directory.toFile().deleteRecursively()
    }
}

/**
 * Runs `body` `times` times, with garbage collections between. A collection drops buffers that the
 * JVM keeps for reading and writing. Compiled code becomes void when it first misses them.
 */
fun compile(times: Int, body: () -> Unit) = repeat(times) { time ->
    if (time % TIMES_BETWEEN_COLLECTIONS == 0) collectGarbage()
    body()
}

private const val TIMES_BETWEEN_COLLECTIONS = 5

/**
 * Collects garbage and waits until the compiler is idle. Otherwise both would work during the timed
 * part.
 */
fun collectGarbage() {
    System.gc()
    if (!warmsUp) return
    val compiler = ManagementFactory.getCompilationMXBean()
    var time = -1L
    while (compiler.totalCompilationTime != time) {
        time = compiler.totalCompilationTime
        Thread.sleep(QUIET_MS)
    }
}

private const val QUIET_MS = 20L

private const val PREFIX = "smallfry-bench-"

/** A scenario's rows in the JVM: `scenarios/<name>/driver.kt` has one as `object Driver`. */
abstract class Scenario<R : Any>(private val type: Class<R>) {
    abstract fun run(functions: String, request: R): Times

    fun run(functions: String, request: JsonObject): Times = run(functions, json.fromJson(request, type))
}

private fun run(functions: String, request: JsonObject): Times {
    val (name, of) = request.entrySet().single()
    val driver = try {
        Class.forName("dev.smallfry.bench.${name.replace("-", "")}.Driver")
    } catch (_: ClassNotFoundException) {
        throw UnsupportedOperationException("no scenario $name here")
    }
    val scenario = driver.getField("INSTANCE").get(null) as Scenario<*>
    return scenario.run(functions, of.asJsonObject)
}

private fun send(reply: Pair<String, Any>) = println(json.toJson(mapOf(reply)))

private fun failure(error: Throwable) = mapOf(
    "operation" to "run",
    "path" to (error as? FileSystemException)?.file,
    "message" to error.toString().lineSequence().first(),
)

/** The `Times` of protocol.rs. */
class Times(
    val files: Int,
    val bytes: Long,
    val usage: Usage,
    @Suppress("PropertyName") val samples_ns: LongArray? = null,
    /** The phases of a build in nanoseconds, in order. */
    val phases: List<List<Any>>? = null,
)

@Suppress("PropertyName")
class Usage(val wall_ns: Long, val user_ns: Long, val sys_ns: Long, val peak_kib: Long)

/** Measures the time since its creation, and the processor time of the whole process. */
class Meter {
    private val processor = processorTimes()
    private val began = System.nanoTime()

    fun stop(): Usage {
        val wall = System.nanoTime() - began
        val (user, sys) = processorTimes()
        return Usage(wall, user - processor.first, sys - processor.second, peak())
    }
}

private const val NS_A_TICK = 10_000_000L

/**
 * Returns user and system time in nanoseconds, as exactly as /proc tells them. More exact times
 * need a system call of their own.
 */
private fun processorTimes(): Pair<Long, Long> {
    val status = File("/proc/self/stat").takeIf { it.exists() }?.readText() ?: return 0L to 0L
    val fields = status.substringAfterLast(')').trim().split(' ')
    return fields[11].toLong() * NS_A_TICK to fields[12].toLong() * NS_A_TICK
}

private fun peak(): Long {
    val status = File("/proc/self/status").takeIf { it.exists() } ?: return 0
    return status.readLines().first { it.startsWith("VmHWM:") }.filter(Char::isDigit).toLong()
}
