//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;
use crate::host::Syncfs;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{shape} {}", if self.replaced { "replaced" } else { "new" })]
pub(crate) struct Case {
    #[serde(flatten)]
    pub(super) shape: Shape,
    pub(super) replaced: bool,
}

/// The way in which raw system calls make many files durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Flushing {
    /// Each file is flushed and named, and its directory flushed, before the next one.
    Each,
    /// The same for files, many at once; then each directory once.
    Concurrent,
    /// The same, and each new file gets the owner, permissions and extended attributes of the one
    /// that it replaces.
    ConcurrentKeeping,
    /// Writing to the device is started for all, then each file is flushed; then each directory
    /// once.
    Writeout,
    /// All is written, then the whole file system flushed; after renaming once more.
    Syncfs,
    /// Likewise, each time followed by the flush of a directory.
    SyncfsThenFsync,
    /// Each file is written to the device and that awaited, then one other file is flushed, which
    /// empties the device's cache.
    Git,
}

/// One run.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    #[serde(flatten)]
    pub(super) many: many::Request,
    /// Only for raw system calls.
    pub(super) flushing: Flushing,
    /// True if a new file takes the old one's name.
    pub(super) replace: bool,
}

/// The baselines.
pub(super) const EACH: &str = "fsync and directory flush each";
pub(super) const NODE_EACH: &str = "Node fsync and directory flush each";
pub(super) const JVM_EACH: &str = "Java force and directory flush each";
/// The same for all files at once, on a thread for each, at most 128; then each directory once.
pub(super) const NODE_CONCURRENT: &str = "Node concurrent fsyncs";
pub(super) const JVM_CONCURRENT: &str = "Java concurrent forces";
/// The baseline through a mount that adds no delay, beside a slow disk.
pub(super) const EACH_MOUNT_ALONE: &str = "one by one, mount alone";
pub(super) const CONCURRENT_KEEPING: &str = "concurrent fsyncs, attributes kept";
pub(super) const SYNCFS_THEN_FSYNC: &str = "syncfs, then fsync";
/// The row on a file system where syncfs may flush nothing.
pub(super) const SYNCFS_UNKNOWN: &str = "syncfs, NOT known to flush here";
pub(super) const GIT: &str = "git's way, WEAKER promise";
pub(super) const RUST: &str = "smallfry in Rust";
pub(super) const ATOMIC: &str = "write-file-atomic sync, NO directory flush";
pub(super) const ATOMIC_ALL: &str = "write-file-atomic Promise.all, NO directory flush";

pub(super) const ON_NODE: [RowOf; 6] = [
    (NODE_EACH, Functions::Node, Style::Sync),
    (NODE_CONCURRENT, Functions::Node, Style::Parallel),
    (ATOMIC, Functions::WriteFileAtomic, Style::Sync),
    (ATOMIC_ALL, Functions::WriteFileAtomic, Style::Parallel),
    rows::bulk("smallfry writeFilesSync"),
    ("smallfry writeFiles", Functions::Smallfry, Style::Bulk),
];

pub(super) const IN_JVM: [RowOf; 3] = [
    (JVM_EACH, Functions::JavaChannel, Style::Sync),
    (JVM_CONCURRENT, Functions::JavaChannel, Style::Parallel),
    rows::bulk("smallfry writeAll in the JVM"),
];

/// Returns true if the row promises less than that all files survive, contents and names.
pub(super) fn promises_less(row: &Row) -> bool {
    [SYNCFS_UNKNOWN, GIT, ATOMIC, ATOMIC_ALL].contains(&row.implementation.as_str())
}

/// Returns the ways that this system has, by name. Only `replaced` files have attributes to keep.
pub(super) fn ways(session: &Session, replaced: bool) -> Vec<(&'static str, Flushing)> {
    let mut ways = vec![
        (EACH, Flushing::Each),
        // smallfry's row comes first.
        ("fsync and directory flush each A/A", Flushing::Each),
        ("concurrent fsyncs", Flushing::Concurrent),
    ];
    if cfg!(target_os = "linux") {
        // A simulated disk is a mount of its own kind, whose server hears nothing of syncfs.
        let syncfs = match session.directories.profile() {
            Some(_) => Syncfs::Unknown,
            None => session.host.file_system.syncfs(),
        };
        if replaced {
            ways.push((CONCURRENT_KEEPING, Flushing::ConcurrentKeeping));
        }
        ways.push(("writeout, then fsync", Flushing::Writeout));
        ways.push(match syncfs {
            Syncfs::Barrier => ("syncfs", Flushing::Syncfs),
            Syncfs::BarrierWithFsync => (SYNCFS_THEN_FSYNC, Flushing::SyncfsThenFsync),
            Syncfs::Unknown => (SYNCFS_UNKNOWN, Flushing::Syncfs),
        });
        ways.push((GIT, Flushing::Git));
    }
    if session.directories.undelayed(0).is_some() {
        ways.push((EACH_MOUNT_ALONE, Flushing::Each));
    }
    ways
}
