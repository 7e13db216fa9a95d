package dev.smallfry.bench.fsync

import dev.smallfry.bench.Meter
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.warmUp
import dev.smallfry.bench.writerOf
import java.nio.file.Path

@Suppress("PropertyName", "LongParameterList")
class FsyncRequest(
    val path: String,
    val text: String,
    val level: String,
    val replace: Boolean,
    val warm_up: Int,
    val samples: Int,
)

/** The counterpart of native.rs: writes one file again and again, and times each call alone. */
object Driver : Scenario<FsyncRequest>(FsyncRequest::class.java) {
    override fun run(functions: String, request: FsyncRequest): Times {
        // The warm-up writes in memory, where a flush takes no time. The compiled code is the same.
        warmUp { directory ->
            val write = writerOf(functions, directory.resolve("file"), request.level, request.replace)
            repeat(CALLS_TO_COMPILE) { write(request.text) }
        }
        val write = writerOf(functions, Path.of(request.path), request.level, request.replace)
        repeat(request.warm_up.coerceAtMost(FEW)) { write(request.text) }
        val samples = LongArray(request.samples)
        val meter = Meter()
        for (index in samples.indices) {
            val began = System.nanoTime()
            write(request.text)
            samples[index] = System.nanoTime() - began
        }
        return Times(samples.size, samples.size.toLong() * request.text.length, meter.stop(), samples)
    }
}

private const val FEW = 10

/** The number of calls after which the compiler's last stage has run. */
private const val CALLS_TO_COMPILE = 20_000
