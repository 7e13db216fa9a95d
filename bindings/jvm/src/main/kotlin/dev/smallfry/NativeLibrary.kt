package dev.smallfry

import java.io.IOException
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption.CREATE_NEW
import java.nio.file.StandardOpenOption.WRITE
import java.nio.file.attribute.FileAttribute
import java.nio.file.attribute.PosixFilePermissions

/**
 * Finds the native library and loads it.
 *
 * It is a resource of the jar, and the system loads files only. So it is written to a new directory
 * that only this user may enter, compared with the resource, and loaded. Then it is removed, except
 * on Windows, which does not remove loaded libraries. Each class loader has a copy of its own,
 * since Java loads a file for one class loader only. The library stays loaded until the process
 * ends: its threads may run when its class loader is collected.
 */
internal object NativeLibrary {
    /** The property that names a library to load instead. */
    const val PROPERTY = "dev.smallfry.library"

    private const val PREFIX = "smallfry-jvm-"

    private val isWindows = System.getProperty("os.name").startsWith("Windows")

    /** The name of the directory in the jar that has the library for this platform. */
    val platform: String = run {
        val system = System.getProperty("os.name")
        val os = when {
            isWindows -> "windows"
            system.startsWith("Mac") -> "macos"
            else -> system.lowercase()
        }
        val arch = when (val processor = System.getProperty("os.arch")) {
            "amd64", "x86_64" -> "x86_64"
            "aarch64", "arm64" -> "aarch64"
            else -> processor
        }
        "$os-$arch"
    }

    private val resource = "native/$platform/${System.mapLibraryName("smallfry_jvm")}"

    /** Loads the library. Returns null, or why it is not loaded and what was tried. */
    fun load(): String? {
        System.getProperty(PROPERTY)?.let { named ->
            val reason = attempt { System.load(Path.of(named).toAbsolutePath().toString()) } ?: return null
            return "smallfry cannot load the native library that -D$PROPERTY names, $named: $reason"
        }
        val bytes = NativeLibrary::class.java.getResourceAsStream(resource)?.use { it.readBytes() }
            ?: return "smallfry has no native library for $platform: dev/smallfry/$resource is not in its jar. " +
                "If you have one, -D$PROPERTY=/path/to/it names it."
        val tried = ArrayList<String>()
        for (directory in directories()) {
            val reason = attempt { unpackAndLoad(directory, bytes) } ?: return null
            tried += "unpacked beneath $directory: $reason"
        }
        return "smallfry cannot load its native library for $platform. Tried: ${tried.joinToString("; ")}. Where files in " +
            "such directories may not be run, unpack dev/smallfry/$resource from the jar to where they may, and name it with " +
            "-D$PROPERTY=/path/to/it; or name another directory with -Djava.io.tmpdir."
    }

    private fun directories(): List<Path> = listOfNotNull(
        System.getProperty("java.io.tmpdir")?.let(Path::of),
        System.getProperty("user.home")?.takeIf { it.isNotEmpty() && it != "?" }?.let { Path.of(it, ".cache") },
    ).distinct()

    private fun unpackAndLoad(beneath: Path, bytes: ByteArray) {
        if (isWindows) removeOlder(beneath)
        val directory = Files.createTempDirectory(beneath, PREFIX, *ofOwner("rwx------"))
        val file = directory.resolve(System.mapLibraryName("smallfry_jvm"))
        try {
            Files.newByteChannel(file, setOf(CREATE_NEW, WRITE), *ofOwner("rwx------")).use { channel ->
                val rest = java.nio.ByteBuffer.wrap(bytes)
                while (rest.hasRemaining()) channel.write(rest)
            }
            if (!Files.readAllBytes(file).contentEquals(bytes)) throw IOException("$file is not what was written to it")
            System.load(file.toString())
        } finally {
            // On Windows a loaded library cannot be removed: a later process does that.
            if (attempt { Files.deleteIfExists(file) } == null) attempt { Files.deleteIfExists(directory) }
        }
    }

    private fun ofOwner(permissions: String): Array<FileAttribute<*>> =
        if ("posix" in FileSystems.getDefault().supportedFileAttributeViews()) {
            arrayOf(PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)))
        } else {
            emptyArray()
        }

    /**
     * Removes the libraries that earlier processes had to leave. Windows does not remove libraries
     * in use.
     */
    private fun removeOlder(beneath: Path) {
        attempt {
            Files.newDirectoryStream(beneath, "$PREFIX*").use { directories ->
                for (directory in directories) {
                    attempt {
                        Files.deleteIfExists(directory.resolve(System.mapLibraryName("smallfry_jvm")))
                        Files.deleteIfExists(directory)
                    }
                }
            }
        }
    }

    /** Runs [body]. Returns null, or why it failed. */
    private fun attempt(body: () -> Unit): String? = try {
        body()
        null
    } catch (error: IOException) {
        error.toString()
    } catch (error: LinkageError) {
        error.toString()
    } catch (error: RuntimeException) {
        error.toString()
    }
}
