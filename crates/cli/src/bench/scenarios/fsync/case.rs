//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{characters} characters")]
pub(crate) struct Case {
    pub(super) characters: usize,
    /// The number in a round.
    pub(super) writes: usize,
}

/// The part that must survive a crash of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    None,
    /// The contents and the size.
    Data,
    /// All that the file itself has.
    File,
    /// And its name.
    Full,
}

/// Writes of one file, each timed alone.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    /// Its directory is there.
    pub(super) path: String,
    /// ASCII text.
    pub(super) text: String,
    pub(super) level: Level,
    /// True if a new file takes the old one's name.
    pub(super) replace: bool,
    #[serde(flatten)]
    pub(super) batch: Batch,
}

/// The way in which a row writes and flushes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) name: &'static str,
    pub(super) functions: Functions,
    pub(super) level: Level,
    pub(super) replace: bool,
}

pub(super) const fn write(name: &'static str, functions: Functions, level: Level) -> Write {
    Write {
        name,
        functions,
        level,
        replace: false,
    }
}

pub(super) const fn replace(name: &'static str, functions: Functions, level: Level) -> Write {
    Write {
        replace: true,
        ..write(name, functions, level)
    }
}

pub(super) const ATOMIC: &str = "write-file-atomic, no directory flush";

pub(super) const IN_NODE: [Write; 11] = {
    use Functions::{Before, Node, Smallfry, WriteFileAtomic};
    use Level::{Data, File, Full};
    [
        write("Node writeFileSync, flush", Node, File),
        write("Node open, write, fsync, close", Before, File),
        replace(ATOMIC, WriteFileAtomic, File),
        write("smallfry data", Smallfry, Data),
        write("smallfry full", Smallfry, Full),
        replace("smallfry replaced", Smallfry, Full),
        write("Node writeFileSync, unsynced", Node, Level::None),
        write("Node open, write, close", Before, Level::None),
        replace("write-file-atomic, unsynced", WriteFileAtomic, Level::None),
        write("smallfry unsynced", Smallfry, Level::None),
        replace("smallfry replaced unsynced", Smallfry, Level::None),
    ]
};

pub(super) const IN_JVM: [Write; 11] = {
    use Functions::{JavaChannel, JavaFiles, JavaStream, KotlinFile, Okio, Smallfry};
    use Level::{Data, File, Full};
    [
        write("Java FileOutputStream, fd.sync", JavaStream, File),
        write("Java FileChannel, force", JavaChannel, Data),
        write("okio, flush", Okio, File),
        write("smallfry in the JVM, Data", Smallfry, Data),
        write("smallfry in the JVM, Full", Smallfry, Full),
        write("Java FileOutputStream, unsynced", JavaStream, Level::None),
        write("Java FileChannel, unsynced", JavaChannel, Level::None),
        write("Kotlin File.writeText, unsynced", KotlinFile, Level::None),
        write("Java Files.writeString, unsynced", JavaFiles, Level::None),
        write("okio, unsynced", Okio, Level::None),
        write("smallfry in the JVM, unsynced", Smallfry, Level::None),
    ]
};

pub(super) const IN_RUST: [Write; 13] = {
    use Functions::{Raw, Smallfry, Std};
    use Level::{Data, File, Full};
    [
        write("Rust std, fsync", Std, File),
        write("smallfry in Rust, Data", Smallfry, Data),
        write("smallfry in Rust, Full", Smallfry, Full),
        replace("smallfry in Rust, replaced", Smallfry, Full),
        write("raw system calls, fdatasync", Raw, Data),
        write("raw system calls, fsync", Raw, File),
        write("raw system calls, fsync and directory", Raw, Full),
        replace("raw system calls, replaced", Raw, Full),
        write("Rust std, unsynced", Std, Level::None),
        write("smallfry in Rust, unsynced", Smallfry, Level::None),
        replace("smallfry in Rust, replaced unsynced", Smallfry, Level::None),
        write("raw system calls, unsynced", Raw, Level::None),
        replace("raw system calls, replaced unsynced", Raw, Level::None),
    ]
};

/// The row beside a slow disk, through a mount that adds no delay.
pub(super) const RAW_MOUNT_ALONE: &str = "raw system calls, fsync, mount alone";
pub(super) const ALONE: Write = write(RAW_MOUNT_ALONE, Functions::Raw, Level::File);

/// Finds how a row writes, by its name.
pub(super) fn write_of(row: &Row) -> Write {
    let mut writes = [&IN_NODE[..], &IN_JVM, &IN_RUST].into_iter().flatten();
    let found = writes.find(|write| write.name == row.implementation);
    found.copied().unwrap_or(ALONE)
}

/// Names the calls that flush for a row, here; what strace has seen is another matter.
pub(super) fn primitive(level: Level) -> &'static str {
    match level {
        Level::None => "nothing",
        Level::Data | Level::File | Level::Full if cfg!(windows) => "FlushFileBuffers",
        Level::Full if cfg!(target_vendor = "apple") => "F_FULLFSYNC + that of directory",
        Level::Data | Level::File if cfg!(target_vendor = "apple") => "F_FULLFSYNC",
        Level::Data => "fdatasync",
        Level::File => "fsync",
        Level::Full => "fsync + fsync of directory",
    }
}
