package dev.smallfry.bench.removetree

import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.TreeFunctions
import dev.smallfry.bench.timedTree
import java.nio.file.Path

class Request(val path: String)

/** The rows in the JVM. */
object Driver : Scenario<Request>(Request::class.java) {
    override fun run(functions: String, request: Request): Times = timedTree(TreeFunctions(functions)) { remove(Path.of(request.path)) }
}
