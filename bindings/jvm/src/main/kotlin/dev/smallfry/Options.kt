package dev.smallfry

import java.nio.file.Path

/** What of a write must survive a crash of the system or a power failure. */
public enum class Durability(internal val bits: Int) {
    /** Nothing: the file is in the system's cache when the call returns, as with `java.nio.file.Files`. */
    None(OptionBits.FLUSH_NOTHING),

    /** Contents and size. The name of a file that is new may be lost. */
    Data(OptionBits.FLUSH_DATA),

    /** The file with its contents, its metadata and its name: the directory is flushed, too. */
    Full(OptionBits.FLUSH_FULL),
}

/** What [Smallfry.writeAll] is to do beside writing. Values are checked, and never change. */
public class WriteOptions @JvmOverloads constructor(
    /** What of all files must survive a crash: the same promise for each, for as few waits as the system allows. */
    public val durability: Durability = Durability.None,
    /** Put new files in the place of old ones, each in one step: a reader, or a crash, finds the old contents or the new. */
    public val replace: Boolean = false,
    /** Make the directories above each file if they are missing. */
    public val createParents: Boolean = false,
    /** Leave files alone that hold the right bytes already, so that their modification time stays. */
    public val onlyIfChanged: Boolean = false,
    /** Fail for files that are there already. */
    public val createNew: Boolean = false,
    /** Begin nothing more after an error. */
    public val failFast: Boolean = false,
    /** Resolve all paths beneath this directory, and refuse those that lead out of it: absolute ones, `..`, symbolic links. */
    public val within: Path? = null,
    /** How many files at once; 0: found out by measuring; 1: on the calling thread. */
    public val threads: Int = 0,
    /** Bytes, at most, that have been taken from the entries and not been written; 0: 32 MiB. */
    public val maxBytesInFlight: Long = 0,
) {
    init {
        checkNumbers(threads, maxBytesInFlight)
    }

    internal val bits: Int
        get() = durability.bits or bit(replace, OptionBits.REPLACE) or bit(createParents, OptionBits.CREATE_PARENTS) or
            bit(onlyIfChanged, OptionBits.ONLY_IF_CHANGED) or bit(createNew, OptionBits.CREATE_NEW) or bit(failFast, OptionBits.FAIL_FAST)

    /** For Java, which has no named arguments. */
    public class Builder {
        private var durability = Durability.None
        private var replace = false
        private var createParents = false
        private var onlyIfChanged = false
        private var createNew = false
        private var failFast = false
        private var within: Path? = null
        private var threads = 0
        private var maxBytesInFlight = 0L

        public fun durability(durability: Durability): Builder = apply { this.durability = durability }

        public fun replace(replace: Boolean): Builder = apply { this.replace = replace }

        public fun createParents(createParents: Boolean): Builder = apply { this.createParents = createParents }

        public fun onlyIfChanged(onlyIfChanged: Boolean): Builder = apply { this.onlyIfChanged = onlyIfChanged }

        public fun createNew(createNew: Boolean): Builder = apply { this.createNew = createNew }

        public fun failFast(failFast: Boolean): Builder = apply { this.failFast = failFast }

        public fun within(directory: Path?): Builder = apply { this.within = directory }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun maxBytesInFlight(bytes: Long): Builder = apply { this.maxBytesInFlight = bytes }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): WriteOptions = WriteOptions(
            durability, replace, createParents, onlyIfChanged, createNew, failFast, within, threads, maxBytesInFlight,
        )
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

/** How [Smallfry.readAll] and [Smallfry.stream] are to read. Values are checked, and never change. */
public class ReadOptions @JvmOverloads constructor(
    /** Resolve all paths beneath this directory, and refuse those that lead out of it: absolute ones, `..`, symbolic links. */
    public val within: Path? = null,
    /** Begin nothing more after an error. */
    public val failFast: Boolean = false,
    /** How many files at once; 0: found out by measuring; 1: on the calling thread. */
    public val threads: Int = 0,
    /** Bytes, at most, that have been read and not been handed over; 0: 32 MiB. A single larger file is read all the same. */
    public val maxBytesInFlight: Long = 0,
    /** Refuse files larger than this many bytes, before memory is taken for them. */
    public val maxFileSize: Long = LARGEST_ARRAY,
    /** Of a [stream][Smallfry.stream]: give results as files are done, rather than in the order of paths. */
    public val completionOrder: Boolean = false,
) {
    init {
        checkNumbers(threads, maxBytesInFlight)
        require(maxFileSize in 0..LARGEST_ARRAY) { "maxFileSize is $maxFileSize, and must be from 0 to $LARGEST_ARRAY" }
    }

    internal val bits: Int
        get() = bit(failFast, OptionBits.FAIL_FAST) or bit(completionOrder, OptionBits.COMPLETION_ORDER)

    /** For Java, which has no named arguments. */
    public class Builder {
        private var within: Path? = null
        private var failFast = false
        private var threads = 0
        private var maxBytesInFlight = 0L
        private var maxFileSize = LARGEST_ARRAY
        private var completionOrder = false

        public fun within(directory: Path?): Builder = apply { this.within = directory }

        public fun failFast(failFast: Boolean): Builder = apply { this.failFast = failFast }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun maxBytesInFlight(bytes: Long): Builder = apply { this.maxBytesInFlight = bytes }

        public fun maxFileSize(bytes: Long): Builder = apply { this.maxFileSize = bytes }

        public fun completionOrder(completionOrder: Boolean): Builder = apply { this.completionOrder = completionOrder }

        /** @throws IllegalArgumentException for a negative number, or a size that no array has. */
        public fun build(): ReadOptions =
            ReadOptions(within, failFast, threads, maxBytesInFlight, maxFileSize, completionOrder)
    }

    public companion object {
        /** The length of the longest array, in bytes. */
        public const val LARGEST_ARRAY: Long = Int.MAX_VALUE - 8L

        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

private fun bit(isSet: Boolean, bit: Int): Int = if (isSet) bit else 0

private fun checkNumbers(threads: Int, bytes: Long) {
    require(threads >= 0) { "threads is $threads, and must not be negative" }
    require(bytes >= 0) { "maxBytesInFlight is $bytes, and must not be negative" }
}
