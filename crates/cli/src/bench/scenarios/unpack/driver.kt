package dev.smallfry.bench.unpack

import dev.smallfry.bench.ArchiveFunctions
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.TreeFunctions
import dev.smallfry.bench.timedAfter
import java.nio.file.Files
import java.nio.file.Path

class Request(val archive: String, val to: String, val links: Set<String>)

/** The rows in the JVM. */
object Driver : Scenario<Request>(Request::class.java) {
    override fun run(functions: String, request: Request): Times {
        val archives = ArchiveFunctions(functions)
        val (archive, to) = Path.of(request.archive) to Path.of(request.to)
        val small = { tree: Path, beside: Path ->
            // The name tells the format.
            val packed = beside.resolveSibling(archive.fileName)
            if (Files.notExists(packed)) archives.pack(tree, packed)
            Files.createDirectory(beside)
            archives.unpack(packed, beside, emptySet())
            TreeFunctions("java-files").remove(beside)
        }
        return timedAfter(small) { archives.unpack(archive, to, request.links) }
    }
}
