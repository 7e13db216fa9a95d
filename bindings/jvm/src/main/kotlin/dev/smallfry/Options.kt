package dev.smallfry

import java.nio.file.Path

/** The part of a write that survives a crash of the system or a power failure. */
public enum class Durability(internal val bits: Int) {
    /**
     * No part: the file is in the system's page cache when the call returns, as with
     * `java.nio.file.Files`.
     */
    None(OptionBits.FLUSH_NOTHING),

    /** Contents and size. A new file may lose its name. */
    Data(OptionBits.FLUSH_DATA),

    /** The file with its contents, its metadata and its name: the directory is flushed too. */
    Full(OptionBits.FLUSH_FULL),
}

/** The options of [Smallfry.writeAll]. Values are checked, and never change. */
public class WriteOptions @JvmOverloads constructor(
    /**
     * The part of each file that survives a crash. All files are flushed together, in as few waits
     * as the system allows.
     */
    public val durability: Durability = Durability.None,
    /**
     * Puts a new file in the place of each old one, in one step: a reader, or a crash, finds the
     * old contents or the new.
     */
    public val replace: Boolean = false,
    /** Makes missing directories above the files. */
    public val createParents: Boolean = false,
    /**
     * Leaves files alone that hold the right bytes already, so that their modification time stays.
     */
    public val onlyIfChanged: Boolean = false,
    /** Fails for files that exist already. */
    public val createNew: Boolean = false,
    /** Begins nothing more after an error. */
    public val failFast: Boolean = false,
    /**
     * Resolves all paths beneath this directory, and refuses paths that lead out of it: absolute
     * ones, `..`, symbolic links.
     */
    public val within: Path? = null,
    /** The number of workers. 0: as many as measuring shows to be best. 1: the calling thread. */
    public val threads: Int = 0,
    /**
     * The maximum number of bytes in flight: taken from the entries and not written yet. 0: 32 MiB.
     */
    public val maxBytesInFlight: Long = 0,
) {
    init {
        checkNumbers(threads, maxBytesInFlight)
    }

    internal val bits: Int
        get() = durability.bits or bit(replace, OptionBits.REPLACE) or bit(createParents, OptionBits.CREATE_PARENTS) or
            bit(onlyIfChanged, OptionBits.ONLY_IF_CHANGED) or bit(createNew, OptionBits.CREATE_NEW) or bit(failFast, OptionBits.FAIL_FAST)

    /** Builds options in Java, which has no named arguments. */
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

/**
 * The options of [Smallfry.readAll] and [Smallfry.stream]. Values are checked, and never change.
 */
public class ReadOptions @JvmOverloads constructor(
    /**
     * Resolves all paths beneath this directory, and refuses paths that lead out of it: absolute
     * ones, `..`, symbolic links.
     */
    public val within: Path? = null,
    /** Begins nothing more after an error. */
    public val failFast: Boolean = false,
    /** The number of workers. 0: as many as measuring shows to be best. 1: the calling thread. */
    public val threads: Int = 0,
    /**
     * The maximum number of bytes in flight: read and not handed over yet. 0: 32 MiB. A single
     * larger file is still read.
     */
    public val maxBytesInFlight: Long = 0,
    /** The maximum size of a file in bytes. Larger files are refused before memory is allocated. */
    public val maxFileSize: Long = MAX_ARRAY_LENGTH,
    /**
     * Makes a [stream][Smallfry.stream] give results as files are done, instead of in the order of
     * paths.
     */
    public val completionOrder: Boolean = false,
) {
    init {
        checkNumbers(threads, maxBytesInFlight)
        require(maxFileSize in 0..MAX_ARRAY_LENGTH) { "maxFileSize is $maxFileSize, and must be from 0 to $MAX_ARRAY_LENGTH" }
    }

    internal val bits: Int
        get() = bit(failFast, OptionBits.FAIL_FAST) or bit(completionOrder, OptionBits.COMPLETION_ORDER)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var within: Path? = null
        private var failFast = false
        private var threads = 0
        private var maxBytesInFlight = 0L
        private var maxFileSize = MAX_ARRAY_LENGTH
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
        public const val MAX_ARRAY_LENGTH: Long = Int.MAX_VALUE - 8L

        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

internal fun bit(isSet: Boolean, bit: Int): Int = if (isSet) bit else 0

/** Converts patterns for the native half. */
internal fun patterns(exclude: List<String>): ByteArray {
    for (pattern in exclude) require('\u0000' !in pattern) { "a pattern has a zero in it" }
    return PathBytes.ended(exclude.map(String::toByteArray))
}

internal fun checkThreads(threads: Int): Unit = require(threads >= 0) { "threads is $threads, and must not be negative" }

private fun checkNumbers(threads: Int, bytes: Long) {
    checkThreads(threads)
    require(bytes >= 0) { "maxBytesInFlight is $bytes, and must not be negative" }
}
