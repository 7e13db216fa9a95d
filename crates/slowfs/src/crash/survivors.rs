//! A tree after a crash.

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

/// What a crash left. Contents are made when they are asked for.
#[derive(Clone, Debug)]
pub struct Survivors<'log> {
    log: &'log Log,
    crash: Crash,
    /// Up to where the journal was written, if there is one.
    commit: usize,
    names: Names<'log>,
}

/// Something that a crash left.
#[derive(Clone, Copy, Debug)]
pub struct Survivor<'a> {
    survivors: &'a Survivors<'a>,
    inode: Inode,
}

impl Log {
    /// What a crash leaves; if it is to come after more operations than there are, it comes after all.
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
    /// The crash that left it.
    pub fn of(&self) -> Crash {
        self.crash
    }

    /// What was acknowledged before the crash, in order.
    pub fn acknowledged(&self) -> Vec<&'log OsStr> {
        self.log.entries[..self.crash.point]
            .iter()
            .filter_map(|entry| match &entry.operation {
                Operation::Acknowledge(name) => Some(name.as_os_str()),
                _ => None,
            })
            .collect()
    }

    /// What is at a path, without following links; the empty path is the directory itself.
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

    /// All bytes of the file at a path.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path).ok_or(io::ErrorKind::NotFound)?.read()
    }

    /// Everything below the directory, each after what it is in.
    pub fn all(&self) -> Vec<(PathBuf, Survivor<'_>)> {
        let mut all = Vec::new();
        let mut waiting = vec![(PathBuf::new(), Inode::ROOT)];
        let mut seen = HashSet::new();
        while let Some((path, directory)) = waiting.pop() {
            // Nothing is in itself, whatever the log.
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
    /// Which of the log's it is: two names of one file have the same.
    pub fn inode(&self) -> Inode {
        self.inode
    }

    /// What it is.
    pub fn kind(&self) -> &'a Kind {
        self.survivors
            .log
            .node(self.inode)
            .map_or(&Kind::Special, |node| &node.kind)
    }

    /// Who may use it.
    pub fn attributes(&self) -> Attributes {
        let Survivors {
            log, crash, commit, ..
        } = self.survivors;
        model::attributes(log, self.inode, crash, *commit)
    }

    /// How long the file is.
    pub fn size(&self) -> u64 {
        self.contents().size
    }

    /// All bytes of the file. Large logs keep them in a temporary file.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        match self.kind() {
            Kind::File => self.contents().read(&self.survivors.log.store),
            Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            Kind::Symlink(_) | Kind::Special => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Writes the file's bytes into another one, which has holes where they are zero.
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
