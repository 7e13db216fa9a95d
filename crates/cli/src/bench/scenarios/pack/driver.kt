package dev.smallfry.bench.pack

import dev.smallfry.bench.ArchiveFunctions
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.timedAfter
import java.nio.file.Files
import java.nio.file.Path

class Request(val tree: String, val archive: String)

/** The rows in the JVM. */
object Driver : Scenario<Request>(Request::class.java) {
    override fun run(functions: String, request: Request): Times {
        val archives = ArchiveFunctions(functions)
        val (tree, archive) = Path.of(request.tree) to Path.of(request.archive)
        val small = { from: Path, beside: Path ->
            // The name tells the format.
            val packed = beside.resolveSibling(archive.fileName)
            archives.pack(from, packed)
            Files.delete(packed)
        }
        return timedAfter(small) { archives.pack(tree, archive) }
    }
}
