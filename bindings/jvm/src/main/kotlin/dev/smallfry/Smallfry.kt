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
 * | copy, mirror or remove a tree | [copyTree], [mirrorTree], [removeTree]; `path.copyTree` |
 * | unpack or pack tar, tar.gz, tar.zst and zip | [unpack], [pack] |
 * | hash many files, or a directory with all that is in it | [hashFiles], [hashTree] |
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
 *
 * **On Windows** the native library is compiled, and neither it nor this class was ever run there.
 * [CopyTreeOptions.owner], `accessLists` and `attributes`, [Links.Follow] and [HashOptions.cache]
 * are errors. Holes of copied files are filled.
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
     *
     * PathMatcher wanted = path -> !path.endsWith(".git");
     * var options = CopyTreeOptions.builder().times(true).owner(true).filter(wanted).build();
     * Smallfry.copyTree(Path.of("project"), Path.of("/backup/project"), options);
     * ```
     *
     * A directory is merged into one that is there, which keeps its permissions. Links are copied
     * as links, unless [CopyTreeOptions.links] says otherwise. Holes of sparse files are kept.
     * Permissions are those of the source. Times, owner, access control lists and extended
     * attributes are kept if that is asked. Neither at [to] nor below it a link is followed.
     * Without [CopyTreeOptions.durability] nothing is flushed: after a power failure files may be
     * missing, empty or torn.
     *
     * @return the counts of entries that were copied
     * @throws TreeException if entries could not be copied: the others are copied. Also if [to] is
     * [from] or in it, and for pipes, sockets and devices
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws IllegalArgumentException for a pattern that is not valid
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun copyTree(from: Path, to: Path, options: CopyTreeOptions = CopyTreeOptions()): TreeCounts {
        val (source, copy) = PathBytes.of(from) to PathBytes.of(to)
        val exclude = patterns(options.exclude)
        return Watch(options.onProgress, options.filter).run(from, to) { watch ->
            with(options) { copyTree(source, copy, method.ordinal, bits, threads, exclude, watch.asks, watch) }
        }.counts
    }

    /**
     * Makes the directory [to] the same as the directory [from], by copying only what has changed.
     *
     * ```java
     * var options = MirrorTreeOptions.builder().delete(true).build();
     * Smallfry.mirrorTree(Path.of("photos"), Path.of("/mnt/photos"), options);
     * ```
     *
     * Each entry of [from] is then in [to], with its kind, contents or target, permissions and time
     * of modification. Owner, extended attributes and access control lists are not copied. [to] is
     * made if it is missing. A file is replaced in one step. A directory in the place of a file or
     * link is replaced with [MirrorTreeOptions.delete], and is an error without. Below the two
     * directories no link is followed.
     *
     * A call that was stopped is ended by another one. Nothing is flushed: after a power failure,
     * call it with [MirrorTreeOptions.compareContents].
     *
     * @return the counts of entries that were changed, and of the others
     * @throws TreeException if entries are not the same or not deleted: the rest is done. Also if
     * [from] is no directory, or one of both directories is in the other one
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws IllegalArgumentException for a pattern that is not valid
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun mirrorTree(from: Path, to: Path, options: MirrorTreeOptions = MirrorTreeOptions()): MirrorReport {
        val (source, mirror) = PathBytes.of(from) to PathBytes.of(to)
        val exclude = patterns(options.exclude)
        val outcome = Watch(options.onProgress, options.filter).run(from, to) { watch ->
            mirrorTree(source, mirror, options.bits, options.threads, exclude, watch.asks, watch)
        }
        return MirrorReport.read(outcome)
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
     * @throws TreeException if entries could not be removed: the others are removed. Also for a
     * path that ends in `.` or `..`, or is the root directory
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun removeTree(path: Path, options: RemoveTreeOptions = RemoveTreeOptions()): TreeCounts {
        val bytes = PathBytes.of(path)
        return Watch(options.onProgress).run(path) { removeTree(bytes, options.bits, options.threads, it) }.counts
    }

    /**
     * Unpacks an [archive] into the directory [to], which is made if it is missing. Tar, tar.gz,
     * tar.zst and zip are recognized by their first bytes.
     *
     * ```java
     * var options = UnpackOptions.builder().stripComponents(1).maxBytes(1L << 30).build();
     * Smallfry.unpack(Path.of("node-v24.tar.gz"), Path.of("node"), options);
     * ```
     *
     * A file that is there already is replaced in one step. Directories are merged. Nothing is
     * flushed.
     *
     * All entries stay in [to], whatever the archive says and other programs do meanwhile. These
     * are errors, and the others are unpacked: absolute names, names with `..`, links to absolute
     * paths or out of [to], devices and pipes, and a second entry of a name. Set limits in
     * [UnpackOptions] for archives from strangers, which could fill the disk.
     *
     * @return the counts of entries that were unpacked
     * @throws TreeException if entries could not be unpacked: the others are. Also if the archive
     * is damaged, truncated, of an unknown format or beyond a limit; then the entries up to there
     * are
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws IllegalArgumentException for a pattern that is not valid
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun unpack(archive: Path, to: Path, options: UnpackOptions = UnpackOptions()): TreeCounts {
        val (source, directory) = PathBytes.of(archive) to PathBytes.of(to)
        val exclude = patterns(options.exclude)
        return Watch(options.onProgress).run(archive, to) { watch ->
            with(options) {
                unpack(source, directory, bits, threads, stripComponents, maxEntries, maxBytes, maxRatio, exclude, watch)
            }
        }.counts
    }

    /**
     * Packs the directory [from] with all that is in it, or a file or link, into an [archive],
     * which is replaced in one step when the new one is whole.
     *
     * ```java
     * var options = PackOptions.builder().reproducible(true).build();
     * Smallfry.pack(Path.of("dist"), Path.of("dist.zip"), options);
     * ```
     *
     * The name of the archive tells its format unless options do. Each directory comes before its
     * entries, which are sorted by the bytes of their names. Links are packed as links. In a tar,
     * further names of a file are packed as hard links. The archive itself is left out. Nothing is
     * flushed.
     *
     * @return the counts of entries that were packed
     * @throws TreeException if entries could not be read: the others are packed. If the archive
     * could not be written, none is left
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted. No archive
     * is left
     * @throws IllegalArgumentException if the name of the archive tells no format, and for a
     * pattern that is not valid
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun pack(from: Path, archive: Path, options: PackOptions = PackOptions()): TreeCounts {
        val (source, packed) = PathBytes.of(from) to PathBytes.of(archive)
        val (name, exclude) = options.name.toByteArray() to patterns(options.exclude)
        val format = options.format?.ordinal ?: -1
        return Watch(options.onProgress).run(from, archive) { watch ->
            pack(source, packed, name, format, options.bits, options.threads, exclude, watch)
                ?: throw IllegalArgumentException("the name $archive tells no format, and options have none")
        }.counts
    }

    /**
     * Hashes the file, link or directory [path], and everything in it.
     *
     * ```java
     * Digest inputs = Smallfry.hashTree(Path.of("src"));
     * ```
     *
     * The digest is made of names, kinds, contents, targets of links, and whether the owner may
     * execute a file. It is the same on every platform. Times, owners, other permissions, hard
     * links and the name of the tree itself do not count. No link is followed.
     *
     * With [HashOptions.cache] only files that have changed since the last call are read:
     *
     * ```java
     * var options = HashOptions.builder().cache(Path.of("digests")).build();
     * Digest inputs = Smallfry.hashTree(Path.of("src"), options);
     * ```
     *
     * @throws TreeException if entries could not be read, and for pipes, sockets and devices. Also
     * if the cache could not be read or replaced
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     * @throws IllegalArgumentException for a pattern that is not valid
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun hashTree(path: Path, options: HashOptions = HashOptions()): Digest {
        val (bytes, exclude) = PathBytes.of(path) to patterns(options.exclude)
        val cache = options.cache?.let(PathBytes::of)
        val outcome = Watch(options.onProgress, options.filter).run(path, options.cache) { watch ->
            hashTree(bytes, options.algorithm.ordinal, options.threads, exclude, watch.asks, cache, watch)
        }
        return Digest.read(outcome.rest)
    }

    /**
     * Hashes many files in one call. Links are followed. No contents come to Java.
     *
     * ```java
     * for (ReadResult<Digest> file : Smallfry.hashFiles(paths)) System.out.println(file.getValue());
     * ```
     *
     * @return the result of each file, in the order of paths
     * @throws java.nio.file.FileSystemException if the cache of [HashOptions.cache] could not be
     * read or replaced
     */
    @JvmStatic
    @JvmOverloads
    @Throws(IOException::class)
    public fun hashFiles(paths: Collection<Path>, options: HashOptions = HashOptions()): List<ReadResult<Digest>> {
        val all = paths.toList()
        val bytes = PathBytes.ofAll(all)
        val cache = options.cache?.let(PathBytes::of)
        val watch = Watch(options.onProgress)
        val from = watch.bytes { hashFiles(bytes, options.algorithm.ordinal, options.threads, cache, it) }
        return Digest.results(from, all, options.cache, watch)
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
