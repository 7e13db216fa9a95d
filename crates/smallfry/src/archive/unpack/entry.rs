//! An entry that is to be unpacked.

use std::path::PathBuf;
use std::time::SystemTime;

/// A file or directory, without its contents.
#[derive(Debug)]
pub(super) struct Meta {
    /// Its path below the destination.
    pub(super) path: PathBuf,
    /// Its permissions: the lower nine bits.
    pub(super) mode: u32,
    pub(super) modified: Option<SystemTime>,
}

/// An entry that a worker writes.
pub(super) enum Input<C> {
    File(Meta, C),
    Directory(PathBuf),
    /// A file of so many bytes that is written already.
    Written(u64),
}

/// A symbolic or hard link, which is made when all files are there.
pub(super) struct LinkEntry {
    pub(super) meta: Meta,
    pub(super) target: PathBuf,
}

/// The work that is left when all files are there.
#[derive(Default)]
pub(super) struct Later {
    pub(super) links: Vec<LinkEntry>,
    pub(super) hard_links: Vec<LinkEntry>,
    pub(super) directories: Vec<Meta>,
}
