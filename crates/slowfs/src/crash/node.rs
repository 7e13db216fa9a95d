//! What names lead to.

use super::extents::Extents;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A file, directory or link of one log.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Inode(pub(super) u32);

impl Inode {
    /// The directory that the log is of.
    pub const ROOT: Self = Self(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an inode is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// With contents.
    File,
    /// With names in it.
    Directory,
    /// To there.
    Symlink(PathBuf),
    /// A pipe, socket or device: it has a name and is not made again.
    Special,
}

/// Who may use an inode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Attributes {
    /// Permissions, the lowest twelve bits.
    pub mode: u32,
    /// The owner's number.
    pub user: u32,
    /// The group's number.
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

/// An inode, and which operations have to do with it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// When it was made, or before the log.
    pub(super) attributes: Attributes,
    /// Contents before the log.
    pub(super) before: Extents,
    /// Names in it before the log, if it is a directory.
    pub(super) names: BTreeMap<OsString, Inode>,
    /// Operations on its contents.
    pub(super) contents: Vec<usize>,
    /// Those that changed its size, and that which made it.
    pub(super) sizes: Vec<usize>,
    pub(super) changes: Vec<usize>,
    pub(super) flushes: Vec<usize>,
    /// As it is after all operations.
    pub(super) size: u64,
    pub(super) now: BTreeMap<OsString, Inode>,
    /// The last operation on each name in it.
    pub(super) last: HashMap<OsString, usize>,
    /// The last name that it got; the root has none.
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

    /// Forgets operations.
    pub(super) fn settle(&mut self) {
        self.names.clone_from(&self.now);
        self.sizes.clear();
        self.changes.clear();
        self.flushes.clear();
        self.last.clear();
    }
}
