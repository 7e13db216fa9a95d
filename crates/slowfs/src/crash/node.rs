//! Inodes: files, directories and links of a log.

use super::extents::Extents;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A file, directory or link of one log.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Inode(pub(super) u32);

impl Inode {
    /// The directory that the log is about.
    pub const ROOT: Self = Self(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of an inode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with its target.
    Symlink(PathBuf),
    /// A pipe, socket or device. It has a name, and is not restored.
    Special,
}

/// Owner and permissions of an inode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Attributes {
    /// Permissions: the lowest twelve bits.
    pub mode: u32,
    /// The user ID of the owner.
    pub user: u32,
    /// The group ID.
    pub group: u32,
}

/// A name in a directory.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) directory: Inode,
    pub(super) name: OsString,
}

impl Name {
    pub(super) fn new(directory: Inode, name: &OsStr) -> Self {
        Self {
            directory,
            name: name.to_owned(),
        }
    }
}

/// An inode, and the numbers of the operations on it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Attributes when it was made, or before the log.
    pub(super) attributes: Attributes,
    /// Contents before the log.
    pub(super) before: Extents,
    /// Names in a directory before the log.
    pub(super) names: BTreeMap<OsString, Inode>,
    /// Operations on the contents.
    pub(super) contents: Vec<usize>,
    /// Operations that changed the size, and the one that made the inode.
    pub(super) sizes: Vec<usize>,
    pub(super) changes: Vec<usize>,
    pub(super) flushes: Vec<usize>,
    /// The size after all operations.
    pub(super) size: u64,
    pub(super) now: BTreeMap<OsString, Inode>,
    /// The last operation on each name in a directory.
    pub(super) last: HashMap<OsString, usize>,
    /// The last name of the inode. The root has none.
    pub(super) place: Option<Name>,
}

impl Node {
    pub(super) fn new(kind: Kind, attributes: Attributes) -> Self {
        Self {
            kind,
            attributes,
            before: Extents::default(),
            names: BTreeMap::new(),
            contents: Vec::new(),
            sizes: Vec::new(),
            changes: Vec::new(),
            flushes: Vec::new(),
            size: 0,
            now: BTreeMap::new(),
            last: HashMap::new(),
            place: None,
        }
    }

    /// Forgets all operations, and keeps their effects.
    pub(super) fn set_baseline(&mut self) {
        self.names.clone_from(&self.now);
        self.sizes.clear();
        self.changes.clear();
        self.flushes.clear();
        self.last.clear();
    }
}
