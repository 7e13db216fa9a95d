// The bits of options, as native code reads them.
//
// Generated from bindings/options/src/table.rs. To update it, run
// `UPDATE_OPTION_BITS=1 cargo test -p smallfry-options`.

/** Flushes nothing. */
export const FLUSH_NOTHING = 0;

/** Flushes the contents and the size of the file (fdatasync). */
export const FLUSH_DATA = 1;

/** Flushes the file without its name (fsync), as node:fs does for `flush`. */
export const FLUSH_FILE = 2;

/** Flushes the file and its name (fsync of the file and of its directory). */
export const FLUSH_FULL = 3;

/** Puts a new file in the place of the old one, in one step. */
export const REPLACE = 4;

/** With `REPLACE`, writes into the old file if something is mounted on it. */
export const IN_PLACE_IF_BUSY = 8;

/** Makes missing directories above the files. */
export const CREATE_PARENTS = 32;

/** Leaves files alone that hold the right bytes already. */
export const ONLY_IF_CHANGED = 64;

/** Fails for files that exist already. */
export const CREATE_NEW = 128;

/** Begins nothing more after the first failure. */
export const FAIL_FAST = 256;

/** Decodes contents as UTF-8. */
export const TEXT = 1024;

/** Walks a tree without regard to `.gitignore` and `.ignore` files. */
export const NO_IGNORE_FILES = 2048;

/** Walks names that begin with a dot. */
export const HIDDEN = 4096;

/** Walks or copies what symbolic links lead to. */
export const FOLLOW_LINKS = 8192;

/** Takes a tree that is missing for removed. */
export const MISSING_OK = 16384;

/** Goes into directories of other file systems. */
export const MOUNTS = 32768;

/** Keeps files that are there already. */
export const KEEP_EXISTING = 65536;

/** Gives copies the times of their sources. */
export const TIMES = 131072;

/** Makes names of one file in a tree names of one file in its copy. */
export const HARD_LINKS = 262144;

/** Copies contents instead of sharing blocks with the source. */
export const NO_CLONE = 524288;

/** Gives the copies of relative links absolute targets. */
export const ABSOLUTE_LINKS = 1048576;

/** Refuses to replace anything by the copy of a link. */
export const LINKS_REPLACE_NOTHING = 2097152;

/** Gives entries an archive's permissions, or the access control lists of their sources. */
export const PERMISSIONS = 4194304;

/** Makes links that lead out of the destination, too. */
export const LINKS_MAY_LEAVE = 8388608;

/** Lets the last of several entries of one name win. */
export const LAST_WINS = 16777216;

/** Makes the same archive of the same names and contents. */
export const REPRODUCIBLE = 33554432;

/** Deletes entries of a mirror that are not in its source. */
export const DELETE = 67108864;

/** Compares files by their contents, and not by time. */
export const COMPARE_CONTENTS = 134217728;

/** Finds out what would change, and changes nothing. */
export const DRY_RUN = 268435456;

/** Gives copies the owners and groups of their sources. */
export const OWNER = 536870912;

/** Gives copies the extended attributes of their sources. */
export const ATTRIBUTES = 1073741824;

/** Leaves out pipes, sockets and devices. */
export const SKIP_SPECIAL = -2147483648;
