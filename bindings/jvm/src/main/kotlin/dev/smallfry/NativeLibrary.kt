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

    /**
     * musl's C library has one of these names in different distributions. glibc's has `libc.so.6`,
     * or `libc-2.28.so` before version 2.34.
     */
    private val MUSL = Regex("""/(ld-musl-[^/]+|libc\.musl-[^/]+|libc\.so)$""")

    /**
     * The name of the system, and of the directory in the jar that has the library for it. The npm
     * packages have the same names.
     */
    val system: String = nameOf(System.getProperty("os.name"), System.getProperty("os.arch"), ::mappedFiles)

    private val resource = "native/$system/${System.mapLibraryName("smallfry_jvm")}"

    /** Returns the name of a system. [mapped] has the files that a process on Linux has mapped. */
    internal fun nameOf(os: String, processor: String, mapped: () -> List<String>): String {
        val arch = when (processor) {
            "amd64", "x86_64" -> "x64"
            "aarch64", "arm64" -> "arm64"
            else -> processor
        }
        return when {
            os.startsWith("Windows") -> "win32-$arch-msvc"
            os.startsWith("Mac") -> "darwin-$arch"
            os == "Linux" -> if (mapped().any(MUSL::containsMatchIn)) "linux-$arch-musl" else "linux-$arch-gnu"
            else -> "${os.lowercase()}-$arch"
        }
    }

    /**
     * Returns lines that end with the files that this process has mapped. The JVM's own C library is
     * among them. A system can have both libraries, and a library for one can load with the other
     * and fail later. So the files on disk and an attempt to load tell less.
     *
     * [proc_pid_maps(5)](https://man7.org/linux/man-pages/man5/proc_pid_maps.5.html)
     */
    private fun mappedFiles(): List<String> = try {
        Files.readAllLines(Path.of("/proc/self/maps"), Charsets.ISO_8859_1)
    } catch (_: IOException) {
        emptyList()
    }

    /** Loads the library. Returns null, or why it is not loaded and what was tried. */
    fun load(): String? {
        System.getProperty(PROPERTY)?.let { named ->
            val reason = attempt { System.load(Path.of(named).toAbsolutePath().toString()) } ?: return null
            return "smallfry cannot load the native library that -D$PROPERTY names, $named: $reason"
        }
        val bytes = NativeLibrary::class.java.getResourceAsStream(resource)?.use { it.readBytes() }
            ?: return "smallfry has no native library for $system: dev/smallfry/$resource is not in its jar. " +
                "A jar with a classifier has the library of that system only. If you have the library, " +
                "-D$PROPERTY=/path/to/it names it."
        val tried = ArrayList<String>()
        for (directory in directories()) {
            val reason = attempt { unpackAndLoad(directory, bytes) } ?: return null
            tried += "unpacked beneath $directory: $reason"
        }
        return "smallfry cannot load its native library for $system. Tried: ${tried.joinToString("; ")}. Where files in " +
            "such directories may not be run, unpack dev/smallfry/$resource from the jar to where they may, and name it with " +
            "-D$PROPERTY=/path/to/it; or name another directory with -Djava.io.tmpdir."
    }

    private fun directories(): List<Path> = listOfNotNull(
        System.getProperty("java.io.tmpdir")?.let(Path::of),
        System.getProperty("user.home")?.takeIf { it.isNotEmpty() && it != "?" }?.let { Path.of(it, ".cache") },
    ).distinct()

    private fun unpackAndLoad(beneath: Path, bytes: ByteArray) {
        if (isWindows) removeOlder(beneath)
        val directory = makeDirectory(beneath)
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

    /** Makes a directory that is new, and that other users can neither write to nor enter. */
    internal fun makeDirectory(beneath: Path): Path = Files.createTempDirectory(beneath, PREFIX, *ofOwner("rwx------"))

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
