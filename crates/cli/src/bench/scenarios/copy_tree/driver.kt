package dev.smallfry.bench.copytree

import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.TreeFunctions
import dev.smallfry.bench.timedTree
import java.nio.file.Path

class Request(val from: String, val to: String)

/** The rows in the JVM. */
object Driver : Scenario<Request>(Request::class.java) {
    override fun run(functions: String, request: Request): Times = timedTree(TreeFunctions(functions)) { copy(Path.of(request.from), Path.of(request.to)) }
}
