//! The inodes that the kernel knows, and the names by which they are reached.
//!
//! An inode costs no descriptor: a name in a directory is enough, and the directory has one too, up
//! to the root. Renaming a directory therefore changes one entry. Inode numbers on the mount are
//! the real ones. Exceptions are the root, which is 1 to the kernel, and inodes of other file
//! systems mounted inside.

use crate::device::INODES_AT_ONCE;
use rustix::fs::Stat;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kernel's number of an inode.
pub(super) type Id = u64;

/// The kernel's number of the root.
pub(super) const ROOT: Id = 1;
/// The first number for inodes of other file systems.
const FOREIGN: Id = 1 << 63;

pub(super) struct Tree {
    device: u64,
    root_inode: u64,
    nodes: Mutex<Nodes>,
}

#[derive(Default)]
struct Nodes {
    known: HashMap<Id, Node>,
    foreign: HashMap<(u64, u64), Id>,
    foreigners: u64,
    /// The number of known inodes in each group that a system reads together.
    warm: HashMap<u64, u32>,
}

#[derive(Default)]
struct Node {
    /// The number of look-ups that the kernel has not forgotten.
    lookups: u64,
    /// The number of known nodes in this directory.
    children: u32,
    /// Directory and name of each link that was seen.
    names: Vec<(Id, OsString)>,
    /// Distinguishes files that had the same number one after the other.
    generation: u32,
    /// True if the last link is gone, so that another file may get the number.
    gone: bool,
    /// True if the system has read this directory.
    listed: bool,
    foreign: Option<(u64, u64)>,
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) id: Id,
    pub(super) generation: u64,
    /// True if no inode of its group was known either, so that a system would have had to read it.
    pub(super) cold: bool,
}

impl Tree {
    pub(super) fn new(root: &Stat) -> Self {
        let mut nodes = Nodes::default();
        nodes.known.insert(
            ROOT,
            Node {
                lookups: 1,
                ..Node::default()
            },
        );
        Self {
            device: root.st_dev,
            root_inode: root.st_ino,
            nodes: Mutex::new(nodes),
        }
    }

    /// The number that the kernel has, or would have, for an inode.
    pub(super) fn id(&self, stat: &Stat) -> Option<Id> {
        self.own(stat).or_else(|| {
            self.lock()
                .foreign
                .get(&(stat.st_dev, stat.st_ino))
                .copied()
        })
    }

    fn own(&self, stat: &Stat) -> Option<Id> {
        if stat.st_dev != self.device {
            None
        } else if stat.st_ino == self.root_inode {
            Some(ROOT)
        } else {
            (ROOT + 1..FOREIGN)
                .contains(&stat.st_ino)
                .then_some(stat.st_ino)
        }
    }

    /// Notes that the kernel learns of an inode under a name.
    pub(super) fn found(&self, parent: Id, name: &OsStr, stat: &Stat) -> Found {
        let own = self.own(stat);
        let mut nodes = self.lock();
        let foreign = own.is_none().then_some((stat.st_dev, stat.st_ino));
        let id = own.unwrap_or_else(|| nodes.foreign(stat));
        let cold = nodes.warm(id);
        let node = nodes.known.entry(id).or_default();
        node.lookups += 1;
        node.foreign = foreign;
        if std::mem::take(&mut node.gone) {
            node.generation += 1;
            node.listed = false;
        }
        let generation = u64::from(node.generation);
        nodes.name(id, parent, name);
        Found {
            id,
            generation,
            cold,
        }
    }

    /// Notes an inode that was just made. If its number is known, another file had it, which was
    /// removed behind the mount.
    pub(super) fn made(&self, parent: Id, name: &OsStr, stat: &Stat) -> Found {
        if let Some(id) = self.id(stat) {
            self.lock().reused(id);
        }
        self.found(parent, name, stat)
    }

    /// Notes that the kernel forgets this many look-ups.
    pub(super) fn forget(&self, id: Id, lookups: u64) {
        let mut nodes = self.lock();
        if let Some(node) = nodes.known.get_mut(&id) {
            node.lookups = node.lookups.saturating_sub(lookups);
            nodes.tidy(id);
        }
    }

    /// A directory and a name in it by which the inode is reached, if it still has one.
    pub(super) fn name_of(&self, id: Id) -> Option<(Id, OsString)> {
        self.lock().known.get(&id)?.names.last().cloned()
    }

    /// Marks a directory as read by the system. Returns whether it had not been.
    pub(super) fn list(&self, id: Id) -> bool {
        let mut nodes = self.lock();
        nodes
            .known
            .get_mut(&id)
            .is_some_and(|node| !std::mem::replace(&mut node.listed, true))
    }

    /// Notes that a name is gone, and with it the inode if that was its last link.
    pub(super) fn removed(&self, parent: Id, name: &OsStr, id: Id, last: bool) {
        let mut nodes = self.lock();
        if last && let Some(node) = nodes.known.get_mut(&id) {
            node.gone = true;
        }
        nodes.unname(id, parent, name);
    }

    /// Notes a rename.
    pub(super) fn renamed(&self, id: Id, from: (Id, &OsStr), to: (Id, &OsStr)) {
        let mut nodes = self.lock();
        if nodes.known.contains_key(&id) {
            nodes.name(id, to.0, to.1);
            nodes.unname(id, from.0, from.1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        // Code that holds it cannot panic half way.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Nodes {
    fn foreign(&mut self, stat: &Stat) -> Id {
        let next = FOREIGN + self.foreigners;
        let id = *self
            .foreign
            .entry((stat.st_dev, stat.st_ino))
            .or_insert(next);
        if id == next {
            self.foreigners += 1;
        }
        id
    }

    /// Counts an inode that becomes known. Returns whether no inode of its group was known.
    fn warm(&mut self, id: Id) -> bool {
        if self.known.contains_key(&id) {
            return false;
        }
        let known = self.warm.entry(id / INODES_AT_ONCE).or_default();
        *known += 1;
        *known == 1
    }

    fn cool(&mut self, id: Id) {
        let beside = id / INODES_AT_ONCE;
        if let Some(known) = self.warm.get_mut(&beside) {
            *known -= 1;
            if *known == 0 {
                self.warm.remove(&beside);
            }
        }
    }

    fn reused(&mut self, id: Id) {
        let Some(node) = self.known.get_mut(&id) else {
            return;
        };
        node.gone = true;
        for (parent, _) in std::mem::take(&mut node.names) {
            self.release(parent);
        }
        self.tidy(id);
    }

    fn name(&mut self, id: Id, parent: Id, name: &OsStr) {
        let Some(node) = self.known.get_mut(&id) else {
            return;
        };
        let known =
            |(known_parent, known): &(Id, OsString)| *known_parent == parent && known == name;
        if id == ROOT || node.names.iter().any(known) {
            return;
        }
        // Most inodes have only one name.
        node.names.reserve_exact(1);
        node.names.push((parent, name.to_owned()));
        if let Some(parent) = self.known.get_mut(&parent) {
            parent.children += 1;
        }
    }

    fn unname(&mut self, id: Id, parent: Id, name: &OsStr) {
        let Some(node) = self.known.get_mut(&id) else {
            return;
        };
        let before = node.names.len();
        node.names
            .retain(|(known_parent, known)| *known_parent != parent || known != name);
        if node.names.len() < before {
            self.release(parent);
        }
        self.tidy(id);
    }

    fn release(&mut self, parent: Id) {
        if let Some(node) = self.known.get_mut(&parent) {
            node.children = node.children.saturating_sub(1);
            self.tidy(parent);
        }
    }

    /// Drops a node that neither the kernel nor a child needs, and then its directories if they are
    /// not needed either.
    fn tidy(&mut self, id: Id) {
        let mut doubtful = vec![id];
        while let Some(id) = doubtful.pop() {
            let needed = |node: &Node| node.lookups > 0 || node.children > 0;
            if id == ROOT || self.known.get(&id).is_none_or(needed) {
                continue;
            }
            let Some(node) = self.known.remove(&id) else {
                continue;
            };
            self.cool(id);
            if let Some(key) = node.foreign {
                self.foreign.remove(&key);
            }
            for (parent, _) in node.names {
                if let Some(node) = self.known.get_mut(&parent) {
                    node.children = node.children.saturating_sub(1);
                    doubtful.push(parent);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, create_dir};
    use std::path::Path;

    fn stat(path: &Path) -> Stat {
        rustix::fs::lstat(path).unwrap()
    }

    fn known(tree: &Tree) -> usize {
        tree.lock().known.len()
    }

    /// Makes a tree with `directory/file`, and returns the two as the kernel knows them.
    fn small() -> (tempfile::TempDir, Tree, Found, Found) {
        let root = tempfile::tempdir().unwrap();
        create_dir(root.path().join("directory")).unwrap();
        File::create(root.path().join("directory/file")).unwrap();
        let tree = Tree::new(&stat(root.path()));
        let directory = tree.found(
            ROOT,
            "directory".as_ref(),
            &stat(&root.path().join("directory")),
        );
        let file = tree.found(
            directory.id,
            "file".as_ref(),
            &stat(&root.path().join("directory/file")),
        );
        (root, tree, directory, file)
    }

    #[test]
    fn a_directory_is_known_while_a_file_in_it_is() {
        let (_root, tree, directory, file) = small();
        assert_eq!(known(&tree), 3);
        tree.forget(directory.id, 1);
        assert_eq!(tree.name_of(file.id), Some((directory.id, "file".into())));
        assert_eq!(tree.name_of(directory.id), Some((ROOT, "directory".into())));
        tree.forget(file.id, 1);
        assert_eq!(known(&tree), 1);
        assert!(tree.lock().warm.is_empty());
    }

    #[test]
    fn a_reused_inode_number_has_another_generation() {
        let (root, tree, directory, file) = small();
        let same = stat(&root.path().join("directory/file"));
        tree.removed(directory.id, "file".as_ref(), file.id, true);
        assert_eq!(tree.name_of(file.id), None);
        let next = tree.found(ROOT, "next".as_ref(), &same);
        assert_eq!(next.id, file.id);
        assert_ne!(next.generation, file.generation);
        // The kernel gives back what it knew of both.
        tree.forget(file.id, 1);
        assert_eq!(tree.name_of(next.id), Some((ROOT, "next".into())));
        tree.forget(next.id, 1);
        assert_eq!(tree.name_of(next.id), None);
    }

    #[test]
    fn a_number_that_is_reused_behind_the_mount_loses_its_old_names() {
        let (root, tree, directory, file) = small();
        let same = stat(&root.path().join("directory/file"));
        let next = tree.made(ROOT, "next".as_ref(), &same);
        assert_ne!(next.generation, file.generation);
        tree.removed(ROOT, "next".as_ref(), next.id, true);
        assert_eq!(tree.name_of(next.id), None);
        tree.forget(directory.id, 1);
        tree.forget(file.id, 2);
        assert_eq!(known(&tree), 1);
    }

    #[test]
    fn one_of_two_links_is_enough() {
        let (root, tree, directory, file) = small();
        let same = stat(&root.path().join("directory/file"));
        let link = tree.found(ROOT, "link".as_ref(), &same);
        assert_eq!((link.id, link.generation), (file.id, file.generation));
        tree.removed(ROOT, "link".as_ref(), file.id, false);
        assert_eq!(tree.name_of(file.id), Some((directory.id, "file".into())));
    }

    #[test]
    fn inodes_beside_a_known_one_are_not_cold() {
        let (_root, tree, directory, file) = small();
        assert!(directory.cold);
        let beside = directory.id / INODES_AT_ONCE == file.id / INODES_AT_ONCE;
        assert_eq!(file.cold, !beside);
        tree.forget(file.id, 1);
        tree.forget(directory.id, 1);
        assert!(tree.lock().warm.is_empty());
    }
}
