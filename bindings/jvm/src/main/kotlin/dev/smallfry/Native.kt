package dev.smallfry

/**
 * The native half: `bindings/jvm/native`. Strings cross as bytes of UTF-8, options as bits.
 *
 * A call is made through [ready], so that a library that could not be loaded says why each time.
 */
internal object Native {
    const val DATA = 1
    const val FULL = 1 shl 1
    const val REPLACE = 1 shl 2
    const val APPEND = 1 shl 3
    const val CREATE_PARENTS = 1 shl 4
    const val ONLY_IF_CHANGED = 1 shl 5
    const val CREATE_NEW = 1 shl 6
    const val FAIL_FAST = 1 shl 7
    const val COMPLETION_ORDER = 1 shl 8
    const val TEXT = 1 shl 9

    private val failure: String? = NativeLibrary.load()

    fun ready(): Native {
        if (failure != null) throw UnsatisfiedLinkError(failure)
        return this
    }

    /** Null, or the error, for [Failure.read]. */
    @JvmStatic
    external fun write(path: ByteArray, contents: ByteArray, flags: Int): ByteArray?

    /** What came of each entry, for [WriteReport]; in the words of `write_all.rs`. */
    @JvmStatic
    external fun writeAll(source: Source, flags: Int, threads: Int, mostInFlight: Long, within: ByteArray?): ByteArray

    /** Gives [sink] what came of each path, on this thread and on others, which end with the call. */
    @JvmStatic
    external fun readAll(
        source: Source,
        sink: Sink<*>,
        flags: Int,
        threads: Int,
        mostInFlight: Long,
        largest: Long,
        within: ByteArray?,
    )

    /** The address of what [nextPiece], [cancelReader] and at last [closeReader] are given, or 0 if the source was told why not. */
    @JvmStatic
    external fun openReader(
        source: Source,
        flags: Int,
        threads: Int,
        mostInFlight: Long,
        largest: Long,
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
