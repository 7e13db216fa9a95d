package dev.smallfry

import java.nio.ByteBuffer
import java.nio.file.Path
import java.nio.file.PathMatcher
import java.util.HexFormat

/** A function that makes a digest. */
// The native half knows them by their numbers.
public enum class HashAlgorithm {
    /** BLAKE3 with 32 bytes. It is as safe as SHA-256 and faster. */
    Blake3,

    /** SHA-256 with 32 bytes. */
    Sha256,

    /**
     * SHA-1 with 20 bytes. It is no longer safe against files that are made to have the same
     * digest.
     */
    Sha1,

    /** The name that git has for a file: SHA-1 of a header and the contents. */
    GitBlob,
}

/** The digest of a file or tree. Digests with the same bytes are equal. */
public class Digest private constructor(private val bytes: ByteArray) {
    /** Returns a copy of the bytes: 32 of BLAKE3 and SHA-256, 20 of SHA-1. */
    public fun toByteArray(): ByteArray = bytes.clone()

    override fun equals(other: Any?): Boolean = other is Digest && bytes.contentEquals(other.bytes)

    override fun hashCode(): Int = bytes.contentHashCode()

    /** Returns lower-case hexadecimal digits. */
    override fun toString(): String = HexFormat.of().formatHex(bytes)

    internal companion object {
        private const val FAILED: Byte = 0

        /** Reads a digest that `digests.rs` has written. */
        fun read(from: ByteBuffer): Digest = Digest(ByteArray(from.int).also(from::get))

        /**
         * Reads the results of many files, and tells [watch] the end. Throws an error of the
         * [cache].
         */
        fun results(from: ByteBuffer, paths: List<Path>, cache: Path?, watch: Watch): List<ReadResult<Digest>> {
            if (from.get() == FAILED) throw Failure.read(from, cache)
            val (bytes, count) = from.long to from.int
            val results = paths.mapIndexed { index, path ->
                when {
                    index >= count -> ReadResult.failed(path, Failure.notBegun(path, "read"))
                    from.get() == FAILED -> ReadResult.failed(path, Failure.read(from, path))
                    else -> ReadResult.read(path, read(from))
                }
            }
            watch.done(count.toLong(), bytes)
            return results
        }
    }
}

/**
 * The options of [Smallfry.hashTree] and [Smallfry.hashFiles]. Values are checked, and never
 * change.
 */
public class HashOptions @JvmOverloads constructor(
    /** The algorithm. */
    public val algorithm: HashAlgorithm = HashAlgorithm.Blake3,
    /**
     * Patterns of entries of a tree that are left out, as in [CopyTreeOptions.exclude]. The digest
     * is that of a tree without them.
     */
    public val exclude: List<String> = emptyList(),
    /**
     * Is asked about each entry of a tree that is not excluded, as [CopyTreeOptions.filter] is. The
     * digest is that of a tree without those for which it returns false.
     */
    public val filter: PathMatcher? = null,
    /**
     * A file with the digests of files that were hashed before. Only files that have changed since
     * are read: their inode, length, time of modification or time of change is another one. The
     * file is made if it is missing, and counts as empty if it is damaged. At the end of a call, of
     * a failed one as well, it is replaced in one step. Keep it out of a tree that is hashed. On
     * Windows it is an error.
     */
    public val cache: Path? = null,
    /** The number of workers. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
    }

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var algorithm = HashAlgorithm.Blake3
        private var exclude = emptyList<String>()
        private var filter: PathMatcher? = null
        private var cache: Path? = null
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun algorithm(algorithm: HashAlgorithm): Builder = apply { this.algorithm = algorithm }

        public fun exclude(patterns: List<String>): Builder = apply { exclude = patterns }

        public fun filter(filter: PathMatcher?): Builder = apply { this.filter = filter }

        public fun cache(file: Path?): Builder = apply { cache = file }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): HashOptions = HashOptions(algorithm, exclude, filter, cache, threads, onProgress)
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}
