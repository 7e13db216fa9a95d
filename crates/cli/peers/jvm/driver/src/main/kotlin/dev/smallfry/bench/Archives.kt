package dev.smallfry.bench

import dev.smallfry.Smallfry
import java.nio.file.FileVisitResult
import java.nio.file.FileVisitResult.CONTINUE
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.SimpleFileVisitor
import java.nio.file.attribute.BasicFileAttributes
import java.util.zip.ZipEntry
import java.util.zip.ZipInputStream
import java.util.zip.ZipOutputStream

// The functions that the scenarios of archives share.

/** The functions of a row that pack and unpack a tree. The JDK's know zips alone. */
class ArchiveFunctions(functions: String) {
    private val isOwn = functions == "smallfry"

    init {
        if (!isOwn && functions != "java-files") throw UnsupportedOperationException("no functions $functions here")
    }

    fun pack(tree: Path, archive: Path) {
        if (isOwn) Smallfry.pack(tree, archive) else packZip(tree, archive)
    }

    /** `links` are the names of symbolic links. */
    fun unpack(archive: Path, to: Path, links: Set<String>) {
        if (isOwn) Smallfry.unpack(archive, to) else unpackZip(archive, to, links)
    }
}

/** Packs directories and files: an entry of the JDK's has no permissions, and cannot be a link. */
private fun packZip(tree: Path, archive: Path) = ZipOutputStream(Files.newOutputStream(archive).buffered()).use { zip ->
    Files.walkFileTree(tree, object : SimpleFileVisitor<Path>() {
        override fun preVisitDirectory(dir: Path, attrs: BasicFileAttributes): FileVisitResult {
            if (dir != tree) put("${tree.relativize(dir)}/") {}
            return CONTINUE
        }

        override fun visitFile(file: Path, attrs: BasicFileAttributes): FileVisitResult {
            if (attrs.isRegularFile) put("${tree.relativize(file)}") { Files.copy(file, zip) }
            return CONTINUE
        }

        private fun put(name: String, write: () -> Unit) {
            zip.putNextEntry(ZipEntry(name))
            write()
            zip.closeEntry()
        }
    })
}

/** Unpacks a zip. The JDK does not tell permissions, nor which entries are links. */
private fun unpackZip(archive: Path, to: Path, links: Set<String>) = ZipInputStream(Files.newInputStream(archive).buffered()).use { zip ->
    generateSequence { zip.nextEntry }.forEach { entry ->
        val path = to.resolve(entry.name)
        Files.createDirectories(if (entry.isDirectory) path else path.parent)
        when {
            entry.isDirectory -> {}
            entry.name in links -> Files.createSymbolicLink(path, Path.of(String(zip.readAllBytes())))
            else -> Files.copy(zip, path)
        }
    }
}
