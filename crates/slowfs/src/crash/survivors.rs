//! The tree after a crash.

use super::contents::contents;
use super::extents::Extents;
use super::log::Log;
use super::model::{self, Crash, Model, Names};
use super::node::{Attributes, Inode, Kind};
use super::operation::Operation;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The tree that a crash left. Contents are computed on demand.
#[derive(Clone, Debug)]
pub struct Survivors<'log> {
    log: &'log Log,
    crash: Crash,
    /// The operation up to which the journal was written, if there is one.
    commit: usize,
    names: Names<'log>,
}

/// A file, directory or link that a crash left.
#[derive(Clone, Copy, Debug)]
pub struct Survivor<'a> {
    survivors: &'a Survivors<'a>,
    inode: Inode,
}

impl Log {
    /// Simulates a crash. A crash after more operations than there are comes after the last one.
    pub fn crash(&self, mut crash: Crash) -> Survivors<'_> {
        crash.point = crash.point.min(self.len());
        let commit = match crash.model {
            Model::Ordered => model::commit(self, &crash),
            Model::Weak => 0,
        };
        Survivors {
            log: self,
            crash,
            commit,
            names: model::names(self, &crash, commit),
        }
    }
}

impl<'log> Survivors<'log> {
    /// The crash that left this tree.
    pub fn of(&self) -> Crash {
        self.crash
    }

    /// The acknowledgements before the crash, in order.
    pub fn acknowledged(&self) -> Vec<&'log OsStr> {
        self.log.entries[..self.crash.point]
            .iter()
            .filter_map(|entry| match &entry.operation {
                Operation::Acknowledge(name) => Some(name.as_os_str()),
                _ => None,
            })
            .collect()
    }

    /// Looks up a path without following links. The empty path is the directory itself.
    pub fn get(&self, path: &Path) -> Option<Survivor<'_>> {
        let inode = path
            .components()
            .try_fold(Inode::ROOT, |directory, part| match part {
                Component::Normal(name) => self.child(directory, name),
                Component::CurDir => Some(directory),
                _ => None,
            })?;
        Some(self.survivor(inode))
    }

    /// Reads the file at a path.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path).ok_or(io::ErrorKind::NotFound)?.read()
    }

    /// Everything below the directory. Each directory comes before its entries.
    pub fn all(&self) -> Vec<(PathBuf, Survivor<'_>)> {
        let mut all = Vec::new();
        let mut waiting = vec![(PathBuf::new(), Inode::ROOT)];
        let mut seen = HashSet::new();
        while let Some((path, directory)) = waiting.pop() {
            // A directory is never inside itself, whatever the log says.
            if !seen.insert(directory) {
                continue;
            }
            for (name, inode) in self.children(directory) {
                let path = path.join(name);
                let survivor = self.survivor(inode);
                if *survivor.kind() == Kind::Directory {
                    waiting.push((path.clone(), inode));
                }
                all.push((path, survivor));
            }
        }
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    fn survivor(&self, inode: Inode) -> Survivor<'_> {
        Survivor {
            survivors: self,
            inode,
        }
    }

    fn child(&self, directory: Inode, name: &OsStr) -> Option<Inode> {
        match self.names.get(&(directory, name)) {
            Some(changed) => *changed,
            None => self.log.node(directory).ok()?.names.get(name).copied(),
        }
    }

    fn children(&self, directory: Inode) -> BTreeMap<&OsStr, Inode> {
        let before = self.log.node(directory).into_iter();
        let mut children: BTreeMap<&OsStr, Inode> = before
            .flat_map(|node| &node.names)
            .map(|(name, inode)| (name.as_os_str(), *inode))
            .collect();
        let changed = self.names.range((directory, OsStr::new(""))..);
        for (&(_, name), inode) in changed.take_while(|((parent, _), _)| *parent == directory) {
            match inode {
                Some(inode) => children.insert(name, *inode),
                None => children.remove(name),
            };
        }
        children
    }
}

impl<'a> Survivor<'a> {
    /// The inode in the log. Two names of one file have the same.
    pub fn inode(&self) -> Inode {
        self.inode
    }

    /// Its kind.
    pub fn kind(&self) -> &'a Kind {
        self.survivors
            .log
            .node(self.inode)
            .map_or(&Kind::Special, |node| &node.kind)
    }

    /// Its owner and permissions.
    pub fn attributes(&self) -> Attributes {
        let Survivors {
            log, crash, commit, ..
        } = self.survivors;
        model::attributes(log, self.inode, crash, *commit)
    }

    /// The size of the file.
    pub fn size(&self) -> u64 {
        self.contents().size
    }

    /// Reads the whole file. The bytes of large logs come from a temporary file.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        match self.kind() {
            Kind::File => self.contents().read(&self.survivors.log.store),
            Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            Kind::Symlink(_) | Kind::Special => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Writes the bytes to `file`, with holes where they are zero.
    pub fn copy_to(&self, file: &std::fs::File) -> io::Result<()> {
        self.contents().write_to(&self.survivors.log.store, file)
    }

    fn contents(&self) -> Extents {
        let Survivors {
            log, crash, commit, ..
        } = self.survivors;
        contents(log, self.inode, crash, *commit)
    }
}
