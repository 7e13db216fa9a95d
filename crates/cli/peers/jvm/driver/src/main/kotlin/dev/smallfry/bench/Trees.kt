package dev.smallfry.bench

import dev.smallfry.copyTree
import dev.smallfry.removeTree
import java.io.IOException
import java.nio.file.FileVisitResult
import java.nio.file.FileVisitResult.CONTINUE
import java.nio.file.Files
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.Path
import java.nio.file.SimpleFileVisitor
import java.nio.file.attribute.BasicFileAttributes

// The functions that the scenarios of trees share.

/** The functions of a row that copy and remove a tree. */
class TreeFunctions(functions: String) {
    private val isOwn = functions == "smallfry"

    init {
        if (!isOwn && functions != "java-files") throw UnsupportedOperationException("no functions $functions here")
    }

    fun copy(from: Path, to: Path) {
        if (isOwn) from.copyTree(to) else Files.walkFileTree(from, Copying(from, to))
    }

    fun remove(path: Path) {
        if (isOwn) path.removeTree() else Files.walkFileTree(path, Removing)
    }
}

private class Copying(private val from: Path, private val to: Path) : SimpleFileVisitor<Path>() {
    override fun preVisitDirectory(dir: Path, attrs: BasicFileAttributes): FileVisitResult {
        Files.createDirectory(to.resolve(from.relativize(dir)))
        return CONTINUE
    }

    override fun visitFile(file: Path, attrs: BasicFileAttributes): FileVisitResult {
        Files.copy(file, to.resolve(from.relativize(file)), NOFOLLOW_LINKS)
        return CONTINUE
    }
}

private object Removing : SimpleFileVisitor<Path>() {
    override fun visitFile(file: Path, attrs: BasicFileAttributes): FileVisitResult {
        Files.delete(file)
        return CONTINUE
    }

    override fun postVisitDirectory(dir: Path, exc: IOException?): FileVisitResult {
        if (exc != null) throw exc
        Files.delete(dir)
        return CONTINUE
    }
}

/** Passes over as many files as the compiler's last level waits for. */
private const val PASSES_OF_TREE_TO_COMPILE = 10

/**
 * Measures the time of `body`, when a small tree has been copied and removed in memory and that is
 * compiled.
 */
fun timedTree(tree: TreeFunctions, body: TreeFunctions.() -> Unit): Times {
    val small = { from: Path, to: Path ->
        tree.copy(from, to)
        tree.remove(to)
    }
    return timedAfter(small) { tree.body() }
}

/**
 * Measures the time of `body`, when `small` is compiled. `small` is given a tree in memory, and a
 * path beside it at which nothing is, and leaves nothing there.
 */
fun timedAfter(small: (Path, Path) -> Unit, body: () -> Unit): Times {
    warmUp { directory ->
        val (tree, beside) = directory.resolve("from") to directory.resolve("to")
        repeat(FILES_TO_COMPILE) { index ->
            val file = tree.resolve("${index % 10}/$index")
            Files.createDirectories(file.parent)
            Files.write(file, ByteArray(BYTES_TO_COMPILE))
        }
        compile(PASSES_OF_TREE_TO_COMPILE) { small(tree, beside) }
    }
    collectGarbage()
    val meter = Meter()
    body()
    return Times(0, 0, meter.stop())
}
