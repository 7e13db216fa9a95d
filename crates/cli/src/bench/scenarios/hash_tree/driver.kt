package dev.smallfry.bench.hashtree

import dev.smallfry.HashAlgorithm
import dev.smallfry.HashOptions
import dev.smallfry.Smallfry
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.timedAfter
import java.nio.file.FileVisitResult
import java.nio.file.FileVisitResult.CONTINUE
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.SimpleFileVisitor
import java.nio.file.attribute.BasicFileAttributes
import java.security.MessageDigest
import java.util.HexFormat

class Request(val function: String, val prints: String, val tree: String, val output: String)

/** The rows in the JVM: the digest of a tree, or a line for each file, as sha256sum prints it. */
object Driver : Scenario<Request>(Request::class.java) {
    override fun run(functions: String, request: Request): Times {
        var output = ""
        val small = { tree: Path, _: Path -> output = outputOf(functions, request, tree) }
        val times = timedAfter(small) { output = outputOf(functions, request, Path.of(request.tree)) }
        Files.writeString(Path.of(request.output), output)
        return times
    }
}

private fun outputOf(functions: String, request: Request, tree: Path): String {
    val options = HashOptions(HashAlgorithm.valueOf(request.function))
    if (request.prints == "Digest") return Smallfry.hashTree(tree, options).toString()
    val files = filesOf(tree)
    val digests = when (functions) {
        "smallfry" -> Smallfry.hashFiles(files, options).map { it.value.toString() }
        "java-files" -> byMessageDigest(files)
        else -> throw UnsupportedOperationException("no functions $functions here")
    }
    return files.zip(digests) { file, digest -> "$digest  $file" }.joinToString("\n")
}

private fun filesOf(tree: Path): List<Path> {
    val files = ArrayList<Path>()
    Files.walkFileTree(tree, object : SimpleFileVisitor<Path>() {
        override fun visitFile(file: Path, attrs: BasicFileAttributes): FileVisitResult {
            if (attrs.isRegularFile) files.add(file)
            return CONTINUE
        }
    })
    return files
}

private fun byMessageDigest(files: List<Path>): List<String> {
    val digest = MessageDigest.getInstance("SHA-256")
    return files.map { HexFormat.of().formatHex(digest.digest(Files.readAllBytes(it))) }
}
