package dev.smallfry

import java.io.IOException
import java.nio.file.Path

/**
 * Reads and writes many small files, and whole trees of them.
 *
 * | job | call |
 * |---|---|
 * | write one file, durably or in one step | [writeText], [writeBytes], [appendText]; in Kotlin `path.writeText(...)` |
 * | write many files | [writeAll] |
 * | read many files, all kept | [readAll], [readAllText] |
 * | read many files, one after the other | [stream], [streamText]; in Kotlin `readFlow` |
 * | copy or remove a directory with all that is in it | [copyTree], [removeTree]; in Kotlin `path.copyTree(...)` |
 *
 * **The number of workers** is found by measuring while a call runs, unless options give it. Files
 * in the page cache are read by as many workers as there are processors; a disk or network that
 * makes each file wait gets more.
 *
 * **Errors** are exceptions of `java.nio.file`. A call for one file throws them. In a call for many
 * files each file has its own, and stops no other. A call for a tree goes on after an error, and
 * throws a [TreeException] with all of them at its end. If memory or the stack ends, an
 * `OutOfMemoryError` or a `StackOverflowError` is thrown.
 *
 * **Interrupts** stop a call for many files: nothing more begins, files in flight are completed,
 * and files that were not begun have a [NotBegunException]. A call for a tree stops as well, and
 * throws a [java.nio.channels.ClosedByInterruptException]. What is done stays done, and no file is
 * left half. The thread stays interrupted. A call for one file goes on to its end.
 *
 * **Text** is UTF-8. Invalid text is replaced as by Kotlin's and Java's own functions: a lone
 * surrogate is written as `?`, bytes that are not UTF-8 are read as U+FFFD.
 *
 * **Not promised**: nothing is flushed unless [Durability] says so, and nothing is atomic without
 * `replace`. An existing file is written over, not emptied first, so that a crash of the system may
 * leave a mixture of old and new contents. Only paths of the default file system can be used;
 * others throw a `ProviderMismatchException`.
 *
 * **The native library** is in the jar, and is unpacked into the directory for temporary files at
 * its first use. Where that does not work, an `UnsatisfiedLinkError` says what was tried;
 * `-Ddev.smallfry.library=FILE` names a library to load instead. Java 24 and later warn of native
 * access unless `--enable-native-access=ALL-UNNAMED` (or `=dev.smallfry` on the module path) is
 * given.
 */
public object Smallfry {
    /**
     * Writes a whole file. A missing file is created.
     *
     * @throws IOException as `Files.writeString` does
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun writeText(
        path: Path,
        text: CharSequence,
        durability: Durability = Durability.None,
        replace: Boolean = false,
    ): Unit = write(path, text.toString().toByteArray(), durability, replace, 0)

    /**
     * Writes a whole file. A missing file is created.
     *
     * @throws IOException as `Files.write` does
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun writeBytes(
        path: Path,
        bytes: ByteArray,
        durability: Durability = Durability.None,
        replace: Boolean = false,
    ): Unit = write(path, bytes, durability, replace, 0)

    /**
     * Adds to the end of a file. A missing file is created. With [replace] a new file gets the old
     * contents and the text: a reader, or a crash, finds all of the text or none of it.
     *
     * @throws IOException as `Files.writeString` does with `APPEND`
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun appendText(
        path: Path,
        text: CharSequence,
        durability: Durability = Durability.None,
        replace: Boolean = false,
    ): Unit = write(path, text.toString().toByteArray(), durability, replace, OptionBits.APPEND)

    private fun write(path: Path, bytes: ByteArray, durability: Durability, replace: Boolean, bits: Int) {
        val all = bits or durability.bits or if (replace) OptionBits.REPLACE else 0
        val error = Native.ready().write(PathBytes.of(path), bytes, all)
        if (error != null) throw Failure.read(error, path)
    }

    /**
     * Writes many files in one call.
     *
     * Entries are taken as files are written, never all at once, on the calling thread. If several
     * entries have one path, the last one wins. An exception of the iterator is thrown here, when
     * all entries before it are written.
     *
     * @return the result of each entry
     * @throws IOException if the directory to stay beneath cannot be opened; then nothing was done
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun writeAll(entries: Iterable<FileEntry>, options: WriteOptions = WriteOptions()): WriteReport {
        val source = Entries(entries.iterator(), options.within)
        val report = Native.ready()
            .writeAll(source, options.bits, options.threads, options.maxBytesInFlight, options.within?.let(PathBytes::of))
        source.rethrow()
        return WriteReport.read(report, source.allPaths(), options.within)
    }

    /**
     * Reads many files in one call, and keeps all their contents.
     *
     * @return the result of each file, in the order of paths
     * @throws IOException if the directory to stay beneath cannot be opened; then nothing was done
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun readAll(paths: Collection<Path>, options: ReadOptions = ReadOptions()): List<ReadResult<ByteArray>> =
        readAll(paths, options, AsBytes)

    /** Reads many files in one call, as [readAll] does, and keeps their contents as text. */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun readAllText(paths: Collection<Path>, options: ReadOptions = ReadOptions()): List<ReadResult<String>> =
        readAll(paths, options, AsText)

    private fun <T> readAll(paths: Collection<Path>, options: ReadOptions, decoding: Decoding<T>): List<ReadResult<T>> {
        val source = Paths(paths.iterator(), options.within, keepsAll = true)
        val gathering = Gathering(source, decoding)
        Native.ready().readAll(
            source,
            gathering,
            options.bits or decoding.bits,
            options.threads,
            options.maxBytesInFlight,
            options.maxFileSize,
            options.within?.let(PathBytes::of),
        )
        source.failure?.let { throw it }
        source.rethrow()
        return gathering.results()
    }

    /**
     * Reads files and gives them one after the other. It reads ahead as far as the bytes in flight
     * allow. Close the stream if you do not take all results.
     *
     * [paths] are taken as they are needed, on the thread that asks for results, and may be
     * endless. An exception of their iterator is thrown in its place, after the results of all
     * paths before it.
     *
     * @throws IOException if the directory to stay beneath cannot be opened
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun stream(paths: Iterator<Path>, options: ReadOptions = ReadOptions()): ReadStream<ByteArray> =
        ReadStream.open(paths, options, AsBytes)

    /** Reads files one after the other, as [stream] does, and gives their contents as text. */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun streamText(paths: Iterator<Path>, options: ReadOptions = ReadOptions()): ReadStream<String> =
        ReadStream.open(paths, options, AsText)

    /**
     * Copies the file, link or directory [from], and everything in it, to [to].
     *
     * ```java
     * TreeCounts copied = Smallfry.copyTree(Path.of("public"), Path.of("dist"));
     * ```
     *
     * A directory is merged into one that is there, which keeps its permissions. Links are copied
     * as links. Holes of sparse files are kept. Permissions are those of the source. Owner, extended
     * attributes and access control lists are not copied. Neither at [to] nor below it a link is
     * followed. Nothing is flushed: after a power failure files may be missing, empty or torn.
     *
     * @return the counts of entries that were copied
     * @throws TreeException if entries could not be copied: the others are copied. Also if [to] is
     * [from] or in it, and for pipes, sockets and devices
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws UnsupportedOperationException on Windows
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun copyTree(from: Path, to: Path, options: CopyTreeOptions = CopyTreeOptions()): TreeCounts {
        val (source, copy) = PathBytes.of(from) to PathBytes.of(to)
        return Watch(options.onProgress).run(from, to) { copyTree(source, copy, options.bits, options.threads, it) }
    }

    /**
     * Removes the file, link or directory [path], and everything in it.
     *
     * ```java
     * Smallfry.removeTree(Path.of("build"), RemoveTreeOptions.builder().missingOk(true).build());
     * ```
     *
     * A link is removed itself, at the path and below it. Another program may exchange directories
     * and links meanwhile: what they lead to stays. Nothing of this is flushed.
     *
     * @return the counts of entries that were removed
     * @throws TreeException if entries could not be removed: the others are removed. Also for a path
     * that ends in `.` or `..`, or is the root directory
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws UnsupportedOperationException on Windows
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun removeTree(path: Path, options: RemoveTreeOptions = RemoveTreeOptions()): TreeCounts {
        val bytes = PathBytes.of(path)
        return Watch(options.onProgress).run(path) { removeTree(bytes, options.bits, options.threads, it) }
    }
}

/** Puts results in the order of paths. */
private class Gathering<T>(private val source: Source, decoding: Decoding<T>) : Sink<T>(source, decoding) {
    private val results = ArrayList<ReadResult<T>?>()

    @Synchronized
    override fun take(indices: IntArray, results: List<ReadResult<T>>) {
        indices.forEachIndexed { place, index ->
            while (this.results.size <= index) this.results.add(null)
            this.results[index] = results[place]
        }
    }

    /** Returns all results, also those of files that were not begun. */
    @Synchronized
    fun results(): List<ReadResult<T>> = source.allPaths().mapIndexed { index, path ->
        results.getOrNull(index) ?: ReadResult.failed(path, Failure.notBegun(path, "read"))
    }
}
