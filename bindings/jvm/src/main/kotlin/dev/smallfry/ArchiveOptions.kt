package dev.smallfry

/** The format of an archive. */
// The native half knows them by their numbers.
public enum class ArchiveFormat {
    /** A tar that is not compressed. */
    Tar,

    /** A tar that is compressed by gzip. */
    TarGz,

    /** A tar that is compressed by zstd. */
    TarZst,

    /** A zip, whose files are compressed by deflate. */
    Zip,
}

/** The options of [Smallfry.unpack]. Values are checked, and never change. */
public class UnpackOptions @JvmOverloads constructor(
    /** The treatment of a file or link that is there already. */
    public val existing: Existing = Existing.Replace,
    /** Drops so many names from the start of each path, and entries that have no more. */
    public val stripComponents: Int = 0,
    /** Gives entries the times of modification that the archive states. */
    public val times: Boolean = true,
    /**
     * Gives entries exactly the permissions that the archive states. Without it the umask is
     * subtracted.
     */
    public val permissions: Boolean = false,
    /**
     * Makes also symbolic links to absolute paths and out of the destination, and those that may
     * lead out by way of another link. Entries never go through them.
     */
    public val linksMayLeave: Boolean = false,
    /**
     * Lets the last of several files of one name win, as in a tar that was appended to. Without it
     * the later ones are errors.
     */
    public val lastWins: Boolean = false,
    /** Stops at an archive with more entries. 0: there is no limit. */
    public val maxEntries: Long = 0,
    /** Stops at an archive whose files have more bytes together. 0: there is no limit. */
    public val maxBytes: Long = 0,
    /**
     * Stops at an archive that becomes more than so many times as large, and larger than 1 MiB. 0:
     * there is no limit.
     */
    public val maxRatio: Long = 0,
    /**
     * Patterns of entries that are left out, as in [CopyTreeOptions.exclude], of their paths below
     * the destination.
     */
    public val exclude: List<String> = emptyList(),
    /** The number of workers. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
        require(stripComponents >= 0) { "stripComponents is $stripComponents, and must not be negative" }
        for ((name, limit) in listOf("maxEntries" to maxEntries, "maxBytes" to maxBytes, "maxRatio" to maxRatio)) {
            require(limit >= 0) { "$name is $limit, and must not be negative" }
        }
    }

    internal val bits: Int
        get() = existing.bits or bit(times, OptionBits.TIMES) or bit(permissions, OptionBits.PERMISSIONS) or
            bit(linksMayLeave, OptionBits.LINKS_MAY_LEAVE) or bit(lastWins, OptionBits.LAST_WINS)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var existing = Existing.Replace
        private var stripComponents = 0
        private var times = true
        private var permissions = false
        private var linksMayLeave = false
        private var lastWins = false
        private var maxEntries = 0L
        private var maxBytes = 0L
        private var maxRatio = 0L
        private var exclude = emptyList<String>()
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun existing(existing: Existing): Builder = apply { this.existing = existing }

        public fun stripComponents(count: Int): Builder = apply { stripComponents = count }

        public fun times(times: Boolean): Builder = apply { this.times = times }

        public fun permissions(permissions: Boolean): Builder = apply { this.permissions = permissions }

        public fun linksMayLeave(linksMayLeave: Boolean): Builder = apply { this.linksMayLeave = linksMayLeave }

        public fun lastWins(lastWins: Boolean): Builder = apply { this.lastWins = lastWins }

        public fun maxEntries(entries: Long): Builder = apply { maxEntries = entries }

        public fun maxBytes(bytes: Long): Builder = apply { maxBytes = bytes }

        public fun maxRatio(ratio: Long): Builder = apply { maxRatio = ratio }

        public fun exclude(patterns: List<String>): Builder = apply { exclude = patterns }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): UnpackOptions = UnpackOptions(
            existing, stripComponents, times, permissions, linksMayLeave, lastWins, maxEntries, maxBytes, maxRatio, exclude, threads,
            onProgress,
        )
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

/** The options of [Smallfry.pack]. Values are checked, and never change. */
public class PackOptions @JvmOverloads constructor(
    /**
     * The format. Null: that of the archive's name, which ends in `.tar`, `.tar.gz` or `.tgz`,
     * `.tar.zst` or `.tzst`, or `.zip`.
     */
    public val format: ArchiveFormat? = null,
    /**
     * The path of the packed tree in the archive. If it is empty, the entries of a directory have
     * none above them, and a file or link has its own name.
     */
    public val name: String = "",
    /**
     * Makes the same archive of the same names and contents: with owner 0, permissions 0755 or
     * 0644, and times of 1970, or 1980 in a zip, which knows no earlier ones.
     */
    public val reproducible: Boolean = false,
    /**
     * Patterns of entries that are left out, as in [CopyTreeOptions.exclude], of their paths in the
     * archive.
     */
    public val exclude: List<String> = emptyList(),
    /** The number of workers that read. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
        require(name.isEmpty() || PathBytes.isBeneath(name)) {
            "the name in the archive is $name, and must be a relative path without `.` and `..`"
        }
    }

    internal val bits: Int
        get() = bit(reproducible, OptionBits.REPRODUCIBLE)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var format: ArchiveFormat? = null
        private var name = ""
        private var reproducible = false
        private var exclude = emptyList<String>()
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun format(format: ArchiveFormat?): Builder = apply { this.format = format }

        public fun name(name: String): Builder = apply { this.name = name }

        public fun reproducible(reproducible: Boolean): Builder = apply { this.reproducible = reproducible }

        public fun exclude(patterns: List<String>): Builder = apply { exclude = patterns }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /**
         * @throws IllegalArgumentException for a negative number, and a name that leads out of the
         * archive.
         */
        public fun build(): PackOptions = PackOptions(format, name, reproducible, exclude, threads, onProgress)
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}
