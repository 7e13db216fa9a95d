package dev.smallfry

import java.nio.file.PathMatcher

/** The treatment of a file or link that is there already. Directories are merged. */
public enum class Existing(internal val bits: Int) {
    /** The new one is put in its place, in one step. */
    Replace(0),

    /** It is left alone. */
    Keep(OptionBits.KEEP_EXISTING),

    /** It is a `FileAlreadyExistsException`. */
    Refuse(OptionBits.CREATE_NEW),
}

/** The treatment of symbolic links in a tree that is copied. */
public enum class Links(internal val bits: Int) {
    /** Their copies have the same targets. */
    Keep(0),

    /** The copies of relative links have absolute targets: the paths they lead to in the source. */
    Absolute(OptionBits.ABSOLUTE_LINKS),

    /**
     * The file or directory that a link leads to is copied in its place, as one of its own. A link
     * that leads to nothing is an error, and so is a link through which a directory would be copied
     * into itself again and again. Not on Windows, where it is an error.
     */
    Follow(OptionBits.FOLLOW_LINKS),
}

/** The way in which the copy of a file comes to its contents. */
public enum class CopyMethod {
    /**
     * The file is new, and shares its blocks with its source until one of both changes, where the
     * file system can do that (Btrfs, XFS, APFS, ReFS).
     */
    Auto,

    /** The same, and it is an error where the file system cannot do that. */
    Clone,

    /**
     * The file is a hard link to its source, and has its permissions, owner, attributes and
     * times. Links and special files are linked as well. Between file systems it is an error.
     */
    HardLink,

    /** The file is new, and has blocks of its own. */
    Copy,
}

/**
 * Hears about the progress of a call, on the thread that waits for it: ten times a second, and at
 * the end unless the call fails. An exception stops the call, and is thrown there.
 */
public fun interface ProgressListener {
    /**
     * Hears how many entries are done, and how many bytes of files. Totals are not known before the
     * end.
     */
    public fun onProgress(entries: Long, bytes: Long)
}

/** The options of [Smallfry.copyTree]. Values are checked, and never change. */
public class CopyTreeOptions @JvmOverloads constructor(
    /** The treatment of a file that is there already. */
    public val existing: Existing = Existing.Replace,
    /** The way in which copies of files come to their contents. */
    public val method: CopyMethod = CopyMethod.Auto,
    /** The treatment of symbolic links. */
    public val links: Links = Links.Keep,
    /** Gives the copies the times of access and modification of their sources. */
    public val times: Boolean = false,
    /**
     * Gives the copies the owners and groups of their sources. Where the system refuses it to a
     * user other than root, the group alone is given, and where it refuses that too, the copy keeps
     * its own. Then a file loses the permissions to run as its owner or group. To root a refusal is
     * an error. On Windows it is always one.
     */
    public val owner: Boolean = false,
    /**
     * Gives the copies the access control lists of their sources. A list that cannot be given is an
     * error, and so is this option on Windows.
     */
    public val accessLists: Boolean = false,
    /**
     * Gives the copies the extended attributes of their sources, capabilities among them, but no
     * access control lists. An attribute that the file system of the copy does not have, or that
     * the user may not set, is left out. On Windows it is an error.
     */
    public val attributes: Boolean = false,
    /** Makes names of one file in the source names of one file in the copy. */
    public val hardLinks: Boolean = true,
    /**
     * Leaves a file as it is if it has the size and time of its source, and a link that has the
     * same target and time. It needs [times], or each copy has a time of its own.
     */
    public val onlyIfChanged: Boolean = false,
    /**
     * Flushes the copy: with [Durability.Full] all of it survives a power failure after the call,
     * with [Durability.Data] the contents of files whose names do. Files that are replaced are the
     * old or the new ones, and each is flushed. ext4, XFS and Btrfs are flushed once for all
     * others, at the end.
     */
    public val durability: Durability = Durability.None,
    /** Makes missing directories above the destination. */
    public val createParents: Boolean = false,
    /** Copies what is in directories of other file systems. Without it they are copied empty. */
    public val mounts: Boolean = true,
    /** Leaves out pipes, sockets and devices, which are errors otherwise. */
    public val skipSpecial: Boolean = false,
    /**
     * Patterns of entries that are left out, with all that is in them. A pattern without a slash
     * matches names at any depth, another one the whole path below the source. `*` and `?` stand
     * for anything but a slash, and a name `**` for any number of directories.
     */
    public val exclude: List<String> = emptyList(),
    /**
     * Is asked about each entry that is not excluded, with its path below the source. An entry for
     * which it returns false is left out, with all that is in it. It is asked on the thread that
     * waits for the call, about one entry at a time. The workers wait for it, so [exclude] is
     * faster. An exception stops the call, and is thrown there.
     */
    public val filter: PathMatcher? = null,
    /** The number of workers. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
    }

    internal val bits: Int
        get() = existing.bits or links.bits or bit(times, OptionBits.TIMES) or bit(owner, OptionBits.OWNER) or
            bit(accessLists, OptionBits.PERMISSIONS) or bit(attributes, OptionBits.ATTRIBUTES) or
            bit(hardLinks, OptionBits.HARD_LINKS) or bit(onlyIfChanged, OptionBits.ONLY_IF_CHANGED) or durability.bits or
            bit(createParents, OptionBits.CREATE_PARENTS) or bit(mounts, OptionBits.MOUNTS) or
            bit(skipSpecial, OptionBits.SKIP_SPECIAL)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var existing = Existing.Replace
        private var method = CopyMethod.Auto
        private var links = Links.Keep
        private var times = false
        private var owner = false
        private var accessLists = false
        private var attributes = false
        private var hardLinks = true
        private var onlyIfChanged = false
        private var durability = Durability.None
        private var createParents = false
        private var mounts = true
        private var skipSpecial = false
        private var exclude = emptyList<String>()
        private var filter: PathMatcher? = null
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun existing(existing: Existing): Builder = apply { this.existing = existing }

        public fun method(method: CopyMethod): Builder = apply { this.method = method }

        public fun links(links: Links): Builder = apply { this.links = links }

        public fun times(times: Boolean): Builder = apply { this.times = times }

        public fun owner(owner: Boolean): Builder = apply { this.owner = owner }

        public fun accessLists(accessLists: Boolean): Builder = apply { this.accessLists = accessLists }

        public fun attributes(attributes: Boolean): Builder = apply { this.attributes = attributes }

        public fun hardLinks(hardLinks: Boolean): Builder = apply { this.hardLinks = hardLinks }

        public fun onlyIfChanged(onlyIfChanged: Boolean): Builder = apply { this.onlyIfChanged = onlyIfChanged }

        public fun durability(durability: Durability): Builder = apply { this.durability = durability }

        public fun createParents(createParents: Boolean): Builder = apply { this.createParents = createParents }

        public fun mounts(mounts: Boolean): Builder = apply { this.mounts = mounts }

        public fun skipSpecial(skipSpecial: Boolean): Builder = apply { this.skipSpecial = skipSpecial }

        public fun exclude(patterns: List<String>): Builder = apply { exclude = patterns }

        public fun filter(filter: PathMatcher?): Builder = apply { this.filter = filter }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): CopyTreeOptions = CopyTreeOptions(
            existing, method, links, times, owner, accessLists, attributes, hardLinks, onlyIfChanged, durability, createParents, mounts, skipSpecial,
            exclude, filter, threads, onProgress,
        )
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

/** The options of [Smallfry.mirrorTree]. Values are checked, and never change. */
public class MirrorTreeOptions @JvmOverloads constructor(
    /** Deletes entries that are not in the source, but none that are excluded. */
    public val delete: Boolean = false,
    /**
     * Compares files of the same size byte by byte. Without it, those with the same time of
     * modification count as the same.
     */
    public val compareContents: Boolean = false,
    /** Changes nothing, and only finds out what would change ([MirrorReport.changes]). */
    public val dryRun: Boolean = false,
    /** Makes names of one file in the source names of one file in the mirror. */
    public val hardLinks: Boolean = true,
    /** Lets copies share their blocks with their sources, as [CopyMethod.Auto] does. */
    public val cloneBlocks: Boolean = true,
    /**
     * Mirrors what is in directories of other file systems. Without it a new one is made empty, and
     * what is in an older one stays.
     */
    public val mounts: Boolean = true,
    /**
     * Patterns of entries that are left out, as in [CopyTreeOptions.exclude]. In the mirror they
     * stay as they are.
     */
    public val exclude: List<String> = emptyList(),
    /**
     * Is asked about each entry that is not excluded, as [CopyTreeOptions.filter] is. An entry for
     * which it returns false stays in the mirror as it is.
     */
    public val filter: PathMatcher? = null,
    /** The number of workers. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
    }

    internal val bits: Int
        get() = bit(delete, OptionBits.DELETE) or bit(compareContents, OptionBits.COMPARE_CONTENTS) or bit(dryRun, OptionBits.DRY_RUN) or
            bit(hardLinks, OptionBits.HARD_LINKS) or bit(!cloneBlocks, OptionBits.NO_CLONE) or bit(mounts, OptionBits.MOUNTS)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var delete = false
        private var compareContents = false
        private var dryRun = false
        private var hardLinks = true
        private var cloneBlocks = true
        private var mounts = true
        private var exclude = emptyList<String>()
        private var filter: PathMatcher? = null
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun delete(delete: Boolean): Builder = apply { this.delete = delete }

        public fun compareContents(compareContents: Boolean): Builder = apply { this.compareContents = compareContents }

        public fun dryRun(dryRun: Boolean): Builder = apply { this.dryRun = dryRun }

        public fun hardLinks(hardLinks: Boolean): Builder = apply { this.hardLinks = hardLinks }

        public fun cloneBlocks(cloneBlocks: Boolean): Builder = apply { this.cloneBlocks = cloneBlocks }

        public fun mounts(mounts: Boolean): Builder = apply { this.mounts = mounts }

        public fun exclude(patterns: List<String>): Builder = apply { exclude = patterns }

        public fun filter(filter: PathMatcher?): Builder = apply { this.filter = filter }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): MirrorTreeOptions =
            MirrorTreeOptions(delete, compareContents, dryRun, hardLinks, cloneBlocks, mounts, exclude, filter, threads, onProgress)
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}

/** The options of [Smallfry.removeTree]. Values are checked, and never change. */
public class RemoveTreeOptions @JvmOverloads constructor(
    /** Takes a tree that is not there for removed. */
    public val missingOk: Boolean = false,
    /**
     * Removes what is in mount points, too, also of `mount --bind`. Without it such a directory is
     * an error.
     */
    public val mounts: Boolean = false,
    /** The number of workers. 0: as many as measuring shows to be best. */
    public val threads: Int = 0,
    /** Hears about the progress. */
    public val onProgress: ProgressListener? = null,
) {
    init {
        checkThreads(threads)
    }

    internal val bits: Int
        get() = bit(missingOk, OptionBits.MISSING_OK) or bit(mounts, OptionBits.MOUNTS)

    /** Builds options in Java, which has no named arguments. */
    public class Builder {
        private var missingOk = false
        private var mounts = false
        private var threads = 0
        private var onProgress: ProgressListener? = null

        public fun missingOk(missingOk: Boolean): Builder = apply { this.missingOk = missingOk }

        public fun mounts(mounts: Boolean): Builder = apply { this.mounts = mounts }

        public fun threads(threads: Int): Builder = apply { this.threads = threads }

        public fun onProgress(listener: ProgressListener?): Builder = apply { this.onProgress = listener }

        /** @throws IllegalArgumentException for a negative number. */
        public fun build(): RemoveTreeOptions = RemoveTreeOptions(missingOk, mounts, threads, onProgress)
    }

    public companion object {
        @JvmStatic
        public fun builder(): Builder = Builder()
    }
}
