//! The log of all operations on a tree, in order.

use super::node::{Attributes, Inode, Kind, Name, Node};
use super::operation::{Entry, Operation, apply};
use super::store::Store;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

/// The maximum size of a file on Linux.
const MAX_SIZE: u64 = i64::MAX as u64;

/// A log of all operations on a tree, in order, with flushes and acknowledgements. A
/// [`Mount`](crate::Mount) records one, and a test can make one by hand.
///
/// No real tree is changed. Impossible operations fail as in a file system.
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) nodes: Vec<Node>,
    pub(super) entries: Vec<Entry>,
    pub(super) flushes: Vec<usize>,
    pub(super) store: Store,
    /// The last move of a directory into another one.
    last_move: Option<usize>,
}

impl Default for Log {
    fn default() -> Self {
        Self::new(Attributes {
            mode: 0o755,
            ..Attributes::default()
        })
    }
}

impl Log {
    /// A log of an empty directory with these attributes.
    pub fn new(attributes: Attributes) -> Self {
        Self {
            nodes: vec![Node::new(Kind::Directory, attributes)],
            entries: Vec::new(),
            flushes: Vec::new(),
            store: Store::default(),
            last_move: None,
        }
    }

    /// The number of operations. A crash can come after any number of them.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no operations.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Finds the inode at `path` after all operations, if nothing is lost.
    pub fn find(&self, path: &Path) -> Option<Inode> {
        path.components()
            .try_fold(Inode::ROOT, |directory, part| match part {
                Component::Normal(name) => self.child(directory, name),
                Component::CurDir | Component::RootDir => Some(directory),
                Component::ParentDir | Component::Prefix(_) => None,
            })
    }

    /// Turns everything that was done so far into the state before the log, which no crash can
    /// lose.
    pub fn set_baseline(&mut self) {
        for node in &mut self.nodes {
            let contents = std::mem::take(&mut node.contents);
            for index in contents {
                apply(&mut node.before, &self.entries[index].operation);
            }
            if let Some(&last) = node.changes.last()
                && let Operation::Change(_, attributes) = self.entries[last].operation
            {
                node.attributes = attributes;
            }
            node.set_baseline();
        }
        self.entries.clear();
        self.flushes.clear();
        self.last_move = None;
    }

    /// Works like creat(2), mkdir(2), symlink(2) and mknod(2).
    pub fn make(
        &mut self,
        directory: Inode,
        name: &OsStr,
        kind: Kind,
        attributes: Attributes,
    ) -> io::Result<Inode> {
        self.refuse_present(directory, name)?;
        let number = u32::try_from(self.nodes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let inode = Inode(number);
        self.nodes.push(Node::new(kind, attributes));
        let name = Name::new(directory, name);
        let index = self.push(Operation::Make(inode, name.clone()), &[&name]);
        self.node_mut(inode)?.sizes.push(index);
        self.enter(name, Some(inode), index);
        Ok(inode)
    }

    /// Works like link(2).
    pub fn link(&mut self, inode: Inode, directory: Inode, name: &OsStr) -> io::Result<()> {
        if self.is_directory(inode)? {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.refuse_present(directory, name)?;
        let name = Name::new(directory, name);
        let index = self.push(Operation::Link(inode, name.clone()), &[&name]);
        self.enter(name, Some(inode), index);
        Ok(())
    }

    /// Works like unlink(2) and rmdir(2).
    pub fn remove(&mut self, directory: Inode, name: &OsStr) -> io::Result<()> {
        let inode = self.present(directory, name)?;
        self.refuse_full(inode)?;
        let name = Name::new(directory, name);
        let index = self.push(Operation::Remove(name.clone()), &[&name]);
        self.enter(name, None, index);
        Ok(())
    }

    /// Works like rename(2).
    pub fn rename(&mut self, from: (Inode, &OsStr), to: (Inode, &OsStr)) -> io::Result<()> {
        let moved = self.present(from.0, from.1)?;
        self.require_directory(to.0)?;
        require_name(to.1)?;
        let replaced = self.child(to.0, to.1);
        if replaced == Some(moved) {
            // Both names are links to one file, and then rename(2) does nothing.
            return Ok(());
        }
        if let Some(replaced) = replaced {
            match (self.is_directory(moved)?, self.is_directory(replaced)?) {
                (true, false) => return Err(io::ErrorKind::NotADirectory.into()),
                (false, true) => return Err(io::ErrorKind::IsADirectory.into()),
                (true, true) => self.refuse_full(replaced)?,
                (false, false) => {}
            }
        }
        self.moved(moved, from, to, None)
    }

    /// Works like renameat2(2) with `RENAME_EXCHANGE`.
    pub fn exchange(&mut self, one: (Inode, &OsStr), other: (Inode, &OsStr)) -> io::Result<()> {
        let moved = self.present(one.0, one.1)?;
        let exchanged = self.present(other.0, other.1)?;
        if moved == exchanged {
            return Ok(());
        }
        self.moved(moved, one, other, Some(exchanged))
    }

    fn moved(
        &mut self,
        moved: Inode,
        from: (Inode, &OsStr),
        to: (Inode, &OsStr),
        exchanged: Option<Inode>,
    ) -> io::Result<()> {
        self.refuse_loop(moved, to.0)?;
        let mut directories = self.is_directory(moved)?;
        if let Some(exchanged) = exchanged {
            self.refuse_loop(exchanged, from.0)?;
            directories |= self.is_directory(exchanged)?;
        }
        let (from, to) = (Name::new(from.0, from.1), Name::new(to.0, to.1));
        let index = self.entries.len();
        let operation = Operation::Rename {
            moved,
            from: from.clone(),
            to: to.clone(),
            exchanged,
        };
        self.push(operation, &[&from, &to]);
        if directories && from.directory != to.directory {
            // If only the later of two moves survived, two directories could contain each other and
            // be in no other one.
            self.entries[index].needs.extend(self.last_move);
            self.last_move = Some(index);
        }
        self.enter(from, exchanged, index);
        self.enter(to, Some(moved), index);
        Ok(())
    }

    /// Works like pwrite(2).
    pub fn write(&mut self, inode: Inode, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let kept = self.keep(bytes)?;
        self.written(inode, offset, bytes.len() as u64, Some(kept))
    }

    /// Makes a part of a file zero, like fallocate(2) with `FALLOC_FL_ZERO_RANGE`. For
    /// `FALLOC_FL_PUNCH_HOLE` the range must not exceed the size.
    pub fn zero(&mut self, inode: Inode, offset: u64, length: u64) -> io::Result<()> {
        self.written(inode, offset, length, None)
    }

    /// Keeps bytes that are about to be written.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.store.add(bytes)
    }

    pub(crate) fn written(
        &mut self,
        inode: Inode,
        offset: u64,
        length: u64,
        bytes: Option<u64>,
    ) -> io::Result<()> {
        self.require_file(inode)?;
        let end = offset.checked_add(length).filter(|&end| end <= MAX_SIZE);
        let end = end.ok_or(io::ErrorKind::FileTooLarge)?;
        if length == 0 {
            return Ok(());
        }
        let operation = Operation::Write {
            inode,
            offset,
            length,
            bytes,
        };
        let index = self.push(operation, &[]);
        let node = self.node_mut(inode)?;
        node.contents.push(index);
        if end > node.size {
            node.size = end;
            node.sizes.push(index);
        }
        Ok(())
    }

    /// Works like ftruncate(2).
    pub fn resize(&mut self, inode: Inode, size: u64) -> io::Result<()> {
        self.require_file(inode)?;
        if size > MAX_SIZE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let index = self.push(Operation::Resize(inode, size), &[]);
        let node = self.node_mut(inode)?;
        node.size = size;
        node.contents.push(index);
        node.sizes.push(index);
        Ok(())
    }

    /// Works like chmod(2) and chown(2).
    pub fn change(&mut self, inode: Inode, attributes: Attributes) -> io::Result<()> {
        self.node(inode)?;
        let index = self.push(Operation::Change(inode, attributes), &[]);
        self.node_mut(inode)?.changes.push(index);
        Ok(())
    }

    /// Works like fsync(2) of a file or directory; with `data_only`, like fdatasync(2).
    pub fn flush(&mut self, inode: Inode, data_only: bool) -> io::Result<()> {
        self.flushed(inode, data_only, self.len())
    }

    /// Records a flush that began when there were `before` operations. It need not cover later
    /// ones.
    pub fn flushed(&mut self, inode: Inode, data_only: bool, before: usize) -> io::Result<()> {
        self.node(inode)?;
        let before = before.min(self.len());
        let operation = Operation::Flush {
            inode,
            data_only,
            before,
        };
        let index = self.push(operation, &[]);
        self.flushes.push(index);
        self.node_mut(inode)?.flushes.push(index);
        Ok(())
    }

    /// Records that the program told somebody that something is safe.
    pub fn acknowledge(&mut self, name: &OsStr) {
        self.push(Operation::Acknowledge(name.to_owned()), &[]);
    }

    /// The size of a file after all operations.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only a mount needs it")
    )]
    pub(crate) fn size(&self, inode: Inode) -> io::Result<u64> {
        Ok(self.node(inode)?.size)
    }

    pub(crate) fn child(&self, directory: Inode, name: &OsStr) -> Option<Inode> {
        self.node(directory).ok()?.now.get(name).copied()
    }

    /// Makes the temporary file for bytes now, while it is not on a mount whose log this is.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only a mount needs it")
    )]
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        self.store.prepare()
    }

    /// Appends an operation on these names. Operations on one name keep their order.
    fn push(&mut self, operation: Operation, names: &[&Name]) -> usize {
        let last = |name: &&Name| {
            self.nodes[name.directory.index()]
                .last
                .get(&name.name)
                .copied()
        };
        let needs = names.iter().filter_map(last).collect();
        self.entries.push(Entry { operation, needs });
        self.entries.len() - 1
    }

    fn enter(&mut self, name: Name, inode: Option<Inode>, index: usize) {
        let node = &mut self.nodes[name.directory.index()];
        node.last.insert(name.name.clone(), index);
        if let Some(inode) = inode {
            node.now.insert(name.name.clone(), inode);
            self.nodes[inode.index()].place = Some(name);
        } else {
            node.now.remove(&name.name);
        }
    }

    pub(super) fn node(&self, inode: Inode) -> io::Result<&Node> {
        let node = self.nodes.get(inode.index());
        node.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn node_mut(&mut self, inode: Inode) -> io::Result<&mut Node> {
        let node = self.nodes.get_mut(inode.index());
        node.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_directory(&self, inode: Inode) -> io::Result<bool> {
        Ok(self.node(inode)?.kind == Kind::Directory)
    }

    fn require_directory(&self, inode: Inode) -> io::Result<()> {
        if self.is_directory(inode)? {
            Ok(())
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    fn require_file(&self, inode: Inode) -> io::Result<()> {
        match self.node(inode)?.kind {
            Kind::File => Ok(()),
            Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            Kind::Symlink(_) | Kind::Special => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn present(&self, directory: Inode, name: &OsStr) -> io::Result<Inode> {
        self.require_directory(directory)?;
        let child = self.child(directory, name);
        child.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn refuse_present(&self, directory: Inode, name: &OsStr) -> io::Result<()> {
        self.require_directory(directory)?;
        require_name(name)?;
        match self.child(directory, name) {
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            None => Ok(()),
        }
    }

    fn refuse_full(&self, inode: Inode) -> io::Result<()> {
        if self.node(inode)?.now.is_empty() {
            Ok(())
        } else {
            Err(io::ErrorKind::DirectoryNotEmpty.into())
        }
    }

    /// Refuses to move a directory into itself.
    fn refuse_loop(&self, moved: Inode, into: Inode) -> io::Result<()> {
        let mut directory = into;
        loop {
            if directory == moved {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let Some(place) = &self.node(directory)?.place else {
                return Ok(());
            };
            directory = place.directory;
        }
    }
}

/// Refuses names that are not exactly one ordinary part of a path.
fn require_name(name: &OsStr) -> io::Result<()> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}
