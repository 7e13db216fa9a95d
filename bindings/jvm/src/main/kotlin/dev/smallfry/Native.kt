package dev.smallfry

/**
 * The functions of the native half, `bindings/jvm/native`. Strings cross as bytes of UTF-8, options
 * as [OptionBits].
 *
 * Each call goes through [ready], which throws the reason if the library could not be loaded.
 */
internal object Native {
    private val failure: String? = NativeLibrary.load()

    fun ready(): Native {
        if (failure != null) throw UnsatisfiedLinkError(failure)
        return this
    }

    /** Writes one file. Returns null, or the error for [Failure.read]. */
    @JvmStatic
    external fun write(path: ByteArray, contents: ByteArray, bits: Int): ByteArray?

    /** Writes the entries of [source]. Returns their results for [WriteReport.read]. */
    @JvmStatic
    external fun writeAll(source: Source, bits: Int, threads: Int, maxInFlight: Long, within: ByteArray?): ByteArray

    /**
     * Reads the paths of [source]. Gives the results to [sink], on this thread and on others, which
     * end with the call.
     */
    @JvmStatic
    external fun readAll(
        source: Source,
        sink: Sink<*>,
        bits: Int,
        threads: Int,
        maxInFlight: Long,
        maxFileSize: Long,
        within: ByteArray?,
    )

    /**
     * Begins to read the paths of [source]. Returns an address for the functions below, or 0 if the
     * source got the error.
     */
    @JvmStatic
    external fun openReader(
        source: Source,
        bits: Int,
        threads: Int,
        maxInFlight: Long,
        maxFileSize: Long,
        within: ByteArray?,
    ): Long

    /** Gives [sink] some results. Returns whether there may be more. */
    @JvmStatic
    external fun nextPiece(reader: Long, source: Source, sink: Sink<*>, memory: ByteArray): Boolean

    /** Begins nothing more. May be called at any time before [closeReader]. */
    @JvmStatic
    external fun cancelReader(reader: Long)

    /** Waits for files in flight, and frees everything. */
    @JvmStatic
    external fun closeReader(reader: Long)

    /**
     * Copies a tree by the method with the number [method]. With [asks], [watch] is asked for each
     * entry. Returns the outcome for [Watch.run].
     */
    @JvmStatic
    external fun copyTree(
        from: ByteArray,
        to: ByteArray,
        method: Int,
        bits: Int,
        threads: Int,
        exclude: ByteArray,
        asks: Boolean,
        watch: Watch,
    ): ByteArray

    /**
     * Mirrors a tree. With [asks], [watch] is asked for each entry. Returns the outcome for
     * [Watch.run], then the changes of a dry run.
     */
    @JvmStatic
    external fun mirrorTree(
        from: ByteArray,
        to: ByteArray,
        bits: Int,
        threads: Int,
        exclude: ByteArray,
        asks: Boolean,
        watch: Watch,
    ): ByteArray

    /** Removes a tree. Returns the outcome for [Watch.run]. */
    @JvmStatic
    external fun removeTree(path: ByteArray, bits: Int, threads: Int, watch: Watch): ByteArray

    /** Unpacks an archive. A limit of 0 stands for none. Returns the outcome for [Watch.run]. */
    @JvmStatic
    external fun unpack(
        archive: ByteArray,
        to: ByteArray,
        bits: Int,
        threads: Int,
        stripComponents: Int,
        maxEntries: Long,
        maxBytes: Long,
        maxRatio: Long,
        exclude: ByteArray,
        watch: Watch,
    ): ByteArray

    /**
     * Packs a tree in the [format] of this number, or for -1 in that of the archive's name. Returns
     * the outcome for [Watch.run], or null if the name tells no format.
     */
    @JvmStatic
    external fun pack(
        from: ByteArray,
        archive: ByteArray,
        name: ByteArray,
        format: Int,
        bits: Int,
        threads: Int,
        exclude: ByteArray,
        watch: Watch,
    ): ByteArray?

    /**
     * Hashes a tree. With [asks], [watch] is asked for each entry. Returns the outcome for
     * [Watch.run], and the digest behind it.
     */
    @JvmStatic
    external fun hashTree(
        path: ByteArray,
        algorithm: Int,
        threads: Int,
        exclude: ByteArray,
        asks: Boolean,
        cache: ByteArray?,
        watch: Watch,
    ): ByteArray

    /** Hashes files. Returns their results for [Digest.results]. */
    @JvmStatic
    external fun hashFiles(paths: ByteArray, algorithm: Int, threads: Int, cache: ByteArray?, watch: Watch): ByteArray
}
