//! The table of option bits.
//!
//! The constants are numbers that a front end adds up. The first four are the values of one field
//! of two bits; each other constant is a bit of its own.

/// One option, for the generator of the front ends' constants.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name of the constant in every language.
    pub name: &'static str,
    /// The number.
    pub value: i32,
    /// A sentence that says what it asks for.
    pub meaning: &'static str,
    /// The front ends that have the constant.
    pub front_ends: &'static [FrontEnd],
}

/// A language from which options come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    /// TypeScript, in `bindings/node`.
    Node,
    /// Kotlin, in `bindings/jvm`.
    Jvm,
}

use FrontEnd::{Jvm, Node};

macro_rules! table {
    ($(#[doc = $meaning:literal] $name:ident = $value:expr, $front_ends:expr;)*) => {
        $(
            #[doc = $meaning]
            pub const $name: i32 = $value;
        )*

        /// All options.
        pub const TABLE: &[Row] = &[
            $(Row { name: stringify!($name), value: $name, meaning: $meaning, front_ends: &$front_ends },)*
        ];
    };
}

table! {
    #[doc = "Flushes nothing."]
    FLUSH_NOTHING = 0, [Node, Jvm];
    #[doc = "Flushes the contents and the size of the file (fdatasync)."]
    FLUSH_DATA = 1, [Node, Jvm];
    #[doc = "Flushes the file without its name (fsync), as node:fs does for `flush`."]
    FLUSH_FILE = 2, [Node];
    #[doc = "Flushes the file and its name (fsync of the file and of its directory)."]
    FLUSH_FULL = 3, [Node, Jvm];
    #[doc = "Puts a new file in the place of the old one, in one step."]
    REPLACE = 1 << 2, [Node, Jvm];
    #[doc = "With `REPLACE`, writes into the old file if something is mounted on it."]
    IN_PLACE_IF_BUSY = 1 << 3, [Node];
    #[doc = "Adds to the end of the file."]
    APPEND = 1 << 4, [Jvm];
    #[doc = "Makes missing directories above the files."]
    CREATE_PARENTS = 1 << 5, [Node, Jvm];
    #[doc = "Leaves files alone that hold the right bytes already."]
    ONLY_IF_CHANGED = 1 << 6, [Node, Jvm];
    #[doc = "Fails for files that exist already."]
    CREATE_NEW = 1 << 7, [Node, Jvm];
    #[doc = "Begins nothing more after the first failure."]
    FAIL_FAST = 1 << 8, [Node, Jvm];
    #[doc = "Gives results as files are done, instead of in the order of paths."]
    COMPLETION_ORDER = 1 << 9, [Jvm];
    #[doc = "Decodes contents as UTF-8."]
    TEXT = 1 << 10, [Node, Jvm];
    #[doc = "Walks a tree without regard to `.gitignore` and `.ignore` files."]
    NO_IGNORE_FILES = 1 << 11, [Node];
    #[doc = "Walks names that begin with a dot."]
    HIDDEN = 1 << 12, [Node];
    #[doc = "Walks or copies what symbolic links lead to."]
    FOLLOW_LINKS = 1 << 13, [Node, Jvm];
    #[doc = "Takes a tree that is missing for removed."]
    MISSING_OK = 1 << 14, [Node, Jvm];
    #[doc = "Goes into directories of other file systems."]
    MOUNTS = 1 << 15, [Node, Jvm];
    #[doc = "Keeps files that are there already."]
    KEEP_EXISTING = 1 << 16, [Node, Jvm];
    #[doc = "Gives copies the times of their sources."]
    TIMES = 1 << 17, [Node, Jvm];
    #[doc = "Makes names of one file in a tree names of one file in its copy."]
    HARD_LINKS = 1 << 18, [Node, Jvm];
    #[doc = "Copies contents instead of sharing blocks with the source."]
    NO_CLONE = 1 << 19, [Node, Jvm];
    #[doc = "Gives the copies of relative links absolute targets."]
    ABSOLUTE_LINKS = 1 << 20, [Node, Jvm];
    #[doc = "Refuses to replace anything by the copy of a link."]
    LINKS_REPLACE_NOTHING = 1 << 21, [Node];
    #[doc = "Gives entries an archive's permissions, or the access control lists of their sources."]
    PERMISSIONS = 1 << 22, [Node, Jvm];
    #[doc = "Makes links that lead out of the destination, too."]
    LINKS_MAY_LEAVE = 1 << 23, [Node, Jvm];
    #[doc = "Lets the last of several entries of one name win."]
    LAST_WINS = 1 << 24, [Node, Jvm];
    #[doc = "Makes the same archive of the same names and contents."]
    REPRODUCIBLE = 1 << 25, [Node, Jvm];
    #[doc = "Deletes entries of a mirror that are not in its source."]
    DELETE = 1 << 26, [Node, Jvm];
    #[doc = "Compares files by their contents, and not by time."]
    COMPARE_CONTENTS = 1 << 27, [Node, Jvm];
    #[doc = "Finds out what would change, and changes nothing."]
    DRY_RUN = 1 << 28, [Node, Jvm];
    #[doc = "Gives copies the owners and groups of their sources."]
    OWNER = 1 << 29, [Node, Jvm];
    #[doc = "Gives copies the extended attributes of their sources."]
    ATTRIBUTES = 1 << 30, [Node, Jvm];
    #[doc = "Leaves out pipes, sockets and devices."]
    SKIP_SPECIAL = 1 << 31, [Node, Jvm];
}
