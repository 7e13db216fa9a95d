package dev.smallfry

// Generated from bindings/options/src/table.rs. To update it, run
// `UPDATE_OPTION_BITS=1 cargo test -p smallfry-options`.

/** The bits of options, as the native half reads them. */
internal object OptionBits {
    /** Flushes nothing. */
    const val FLUSH_NOTHING = 0

    /** Flushes the contents and the size of the file (fdatasync). */
    const val FLUSH_DATA = 1

    /** Flushes the file and its name (fsync of the file and of its directory). */
    const val FLUSH_FULL = 3

    /** Puts a new file in the place of the old one, in one step. */
    const val REPLACE = 4

    /** Adds to the end of the file. */
    const val APPEND = 16

    /** Makes missing directories above the files. */
    const val CREATE_PARENTS = 32

    /** Leaves files alone that hold the right bytes already. */
    const val ONLY_IF_CHANGED = 64

    /** Fails for files that exist already. */
    const val CREATE_NEW = 128

    /** Begins nothing more after the first failure. */
    const val FAIL_FAST = 256

    /** Gives results as files are done, instead of in the order of paths. */
    const val COMPLETION_ORDER = 512

    /** Decodes contents as UTF-8. */
    const val TEXT = 1024

    /** Walks or copies what symbolic links lead to. */
    const val FOLLOW_LINKS = 8192

    /** Takes a tree that is missing for removed. */
    const val MISSING_OK = 16384

    /** Goes into directories of other file systems. */
    const val MOUNTS = 32768

    /** Keeps files that are there already. */
    const val KEEP_EXISTING = 65536

    /** Gives copies the times of their sources. */
    const val TIMES = 131072

    /** Makes names of one file in a tree names of one file in its copy. */
    const val HARD_LINKS = 262144

    /** Copies contents instead of sharing blocks with the source. */
    const val NO_CLONE = 524288

    /** Gives the copies of relative links absolute targets. */
    const val ABSOLUTE_LINKS = 1048576

    /** Gives entries an archive's permissions, or the access control lists of their sources. */
    const val PERMISSIONS = 4194304

    /** Makes links that lead out of the destination, too. */
    const val LINKS_MAY_LEAVE = 8388608

    /** Lets the last of several entries of one name win. */
    const val LAST_WINS = 16777216

    /** Makes the same archive of the same names and contents. */
    const val REPRODUCIBLE = 33554432

    /** Deletes entries of a mirror that are not in its source. */
    const val DELETE = 67108864

    /** Compares files by their contents, and not by time. */
    const val COMPARE_CONTENTS = 134217728

    /** Finds out what would change, and changes nothing. */
    const val DRY_RUN = 268435456

    /** Gives copies the owners and groups of their sources. */
    const val OWNER = 536870912

    /** Gives copies the extended attributes of their sources. */
    const val ATTRIBUTES = 1073741824

    /** Leaves out pipes, sockets and devices. */
    const val SKIP_SPECIAL = -2147483648
}
