package dev.smallfry

/**
 * The native half: `bindings/jvm/native`. Strings cross as bytes of UTF-8, options as [OptionBits].
 *
 * A call is made through [ready], so that a library that could not be loaded says why each time.
 */
internal object Native {
    private val failure: String? = NativeLibrary.load()

    fun ready(): Native {
        if (failure != null) throw UnsatisfiedLinkError(failure)
        return this
    }

    /** Null, or the error, for [Failure.read]. */
    @JvmStatic
    external fun write(path: ByteArray, contents: ByteArray, bits: Int): ByteArray?

    /** What came of each entry, for [WriteReport]; in the words of `write_all.rs`. */
    @JvmStatic
    external fun writeAll(source: Source, bits: Int, threads: Int, maxInFlight: Long, within: ByteArray?): ByteArray

    /** Gives [sink] what came of each path, on this thread and on others, which end with the call. */
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

    /** The address of what [nextPiece], [cancelReader] and at last [closeReader] are given, or 0 if the source was told why not. */
    @JvmStatic
    external fun openReader(
        source: Source,
        bits: Int,
        threads: Int,
        maxInFlight: Long,
        maxFileSize: Long,
        within: ByteArray?,
    ): Long

    /** Gives [sink] some results. Whether there may be more. */
    @JvmStatic
    external fun nextPiece(reader: Long, source: Source, sink: Sink<*>, memory: ByteArray): Boolean

    /** Has nothing more begun; at any time before [closeReader]. */
    @JvmStatic
    external fun cancelReader(reader: Long)

    /** Waits for what is under way, and frees everything. */
    @JvmStatic
    external fun closeReader(reader: Long)
}
