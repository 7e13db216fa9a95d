package dev.smallfry.bench.build

import com.google.gson.GsonBuilder
import com.google.gson.JsonElement
import com.google.gson.JsonParseException
import com.google.gson.Strictness
import dev.smallfry.Durability
import dev.smallfry.Smallfry
import dev.smallfry.WriteOptions
import dev.smallfry.bench.FileOf
import dev.smallfry.bench.Meter
import dev.smallfry.bench.Scenario
import dev.smallfry.bench.Times
import dev.smallfry.bench.TreeFunctions
import dev.smallfry.bench.collectGarbage
import dev.smallfry.bench.compile
import dev.smallfry.bench.warmUp
import dev.smallfry.bench.writeAll
import dev.smallfry.bench.writeEach
import java.nio.file.FileVisitResult
import java.nio.file.FileVisitResult.CONTINUE
import java.nio.file.FileVisitResult.SKIP_SUBTREE
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.SimpleFileVisitor
import java.nio.file.attribute.BasicFileAttributes
import java.util.Arrays
import kotlin.io.path.createParentDirectories
import kotlin.io.path.name

class BuildRequest(
    val style: String,
    val tree: String,
    val extensions: Set<String>,
    val files: Int,
    val output: String,
    val published: String,
    val publish: Int,
    val last: String,
    val assets: String,
    val copied: String,
)

/** The counterpart of native.rs: same phases, same order, same bytes. */
object Driver : Scenario<BuildRequest>(BuildRequest::class.java) {
    override fun run(functions: String, request: BuildRequest): Times {
        // The same files warm up: the contents decide how long it takes until all is compiled.
        warmUp { directory ->
            val inMemory = request.into(directory)
            compile(BUILDS_TO_COMPILE) {
                // Nothing of a pass is left for the next.
                TreeFunctions("java-files").copy(Path.of(request.last), Path.of(inMemory.last))
                pipeline(functions, inMemory)
                TreeFunctions("java-files").remove(Path.of(inMemory.copied))
            }
        }
        collectGarbage()
        return pipeline(functions, request)
    }
}

private const val BUILDS_TO_COMPILE = 5

/** Returns the same request with other directories to write into, and makes them. */
private fun BuildRequest.into(directory: Path): BuildRequest {
    val (output, published) = listOf("output", "published").map(directory::resolve)
    for (file in walk(Path.of(tree), this)) {
        output.resolve(file).createParentDirectories()
        published.resolve(file).createParentDirectories()
    }
    val (last, copied) = listOf("last", "copied").map(directory::resolve)
    return BuildRequest(style, tree, extensions, files, "$output", "$published", publish, "$last", assets, "$copied")
}

private fun pipeline(functions: String, request: BuildRequest): Times {
    val tree = Path.of(request.tree)
    val isBulk = functions == "smallfry" && request.style == "bulk-sync"
    check(isBulk || functions == "java-files" && request.style == "sync") { "no functions $functions here" }
    val phases = ArrayList<List<Any>>()
    val meter = Meter()
    var last = System.nanoTime()
    fun <T> phase(name: String, body: () -> T): T {
        val result = body()
        val now = System.nanoTime()
        phases.add(listOf(name, now - last))
        last = now
        return result
    }
    val onTrees = TreeFunctions(functions)
    phase("clean") { onTrees.remove(Path.of(request.last)) }
    val files = phase("walk") { walk(tree, request) }
    val paths = files.map(tree::resolve)
    val types = phase("type") { moduleTypes(paths) }
    val sources = phase("read") {
        // `Files.readString` fails for a file that is not UTF-8.
        if (isBulk) Smallfry.readAllText(paths).map { it.value } else paths.map { String(Files.readAllBytes(it)) }
    }
    val texts = phase("transform") { sources.zip(types, ::transform) }
    phase("write") {
        val all = filesIn(request.output, files, texts)
        if (isBulk) writeAll(all, WriteOptions()) else all.forEach { Files.writeString(it.path, it.text) }
    }
    phase("assets") { onTrees.copy(Path.of(request.assets), Path.of(request.copied)) }
    phase("publish") {
        val all = filesIn(request.published, files.take(request.publish), texts)
        if (isBulk) writeAll(all, PUBLISHED) else all.forEach { writeEach(it, replace = true) }
    }
    val usage = meter.stop()
    return Times(files.size, texts.sumOf { it.toByteArray().size.toLong() }, usage, phases = phases)
}

private val PUBLISHED = WriteOptions(durability = Durability.Full, replace = true)

private fun filesIn(directory: String, names: List<String>, texts: List<String>): List<FileOf> {
    val root = Path.of(directory)
    return names.zip(texts) { name, text -> FileOf(root.resolve(name), text, null) }
}

/** Returns relative paths, in order. */
private fun walk(tree: Path, request: BuildRequest): List<String> {
    val files = ArrayList<String>()
    val prefix = tree.toString().length + 1
    Files.walkFileTree(tree, object : SimpleFileVisitor<Path>() {
        override fun preVisitDirectory(directory: Path, attributes: BasicFileAttributes): FileVisitResult =
            if (directory != tree && REPLACEMENT in directory.name) SKIP_SUBTREE else CONTINUE

        override fun visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult {
            val name = file.name
            if (attributes.isRegularFile && REPLACEMENT !in name && name.substringAfterLast('.', NONE) in request.extensions) {
                files.add(file.toString().substring(prefix))
            }
            return CONTINUE
        }
    })
    // Every runtime sorts by code point. Kotlin's order of strings differs for characters beyond
    // U+FFFF.
    val isPlain = files.all { file -> file.all { it < Char.MIN_SURROGATE } }
    if (isPlain) files.sort() else files.sortWith { one, other -> Arrays.compareUnsigned(one.toByteArray(), other.toByteArray()) }
    return files.take(request.files)
}

/** Replaces the bytes of a name that are no text. */
private const val REPLACEMENT = '\uFFFD'

private const val NONE = "/"

/**
 * Returns the format that Node takes each file for. Its extension decides, or else the type in the
 * nearest package.json. Each directory is looked up once.
 */
private fun moduleTypes(paths: List<Path>): List<String> {
    val known = HashMap<Path, String>()
    fun nearest(directory: Path?): String {
        // Node goes no further than a directory `node_modules`, and does not ask the root.
        if (directory?.fileName == null || directory.name == "node_modules") return COMMON_JS
        known[directory]?.let { return it }
        val type = try {
            typeIn(Files.readAllBytes(directory.resolve("package.json")))
        } catch (_: NoSuchFileException) {
            nearest(directory.parent)
        }
        known[directory] = type
        return type
    }
    return paths.map { path ->
        when (path.name.substringAfterLast('.')) {
            "mjs" -> "module"
            "cjs" -> COMMON_JS
            "json" -> "json"
            else -> nearest(path.parent)
        }
    }
}

private const val COMMON_JS = "commonjs"

private fun typeIn(json: ByteArray): String = try {
    val type = (STRICT.fromJson(String(json), JsonElement::class.java))?.takeIf { it.isJsonObject }?.asJsonObject?.get("type")
    if (type?.isJsonPrimitive == true && type.asString == "module") "module" else COMMON_JS
} catch (_: JsonParseException) {
    COMMON_JS
}

private val STRICT = GsonBuilder().setStrictness(Strictness.STRICT).create()

private fun transform(text: String, type: String): String =
    "/* built by smallfry bench; type: $type */\n${text.replace("\r\n", "\n")}"
