//! A bounded number of open directories. With them most calls need one name and no path, however
//! many inodes are known.
//!
//! An open directory stays valid when it or a directory above it is renamed, and a name in it
//! cannot lead out of the tree.

use super::tree::{Id, ROOT, Tree};
use rustix::fs::{Mode, OFlags, fstat, openat};
use rustix::io::{Errno, Result};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of open directories: enough for those in use at a time, and few compared with
/// a limit of 1,024 descriptors.
const MAX_OPEN: usize = 256;

pub(super) struct Directories {
    root: Arc<OwnedFd>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    directories: HashMap<Id, (Arc<OwnedFd>, u64)>,
    uses: u64,
}

impl Directories {
    pub(super) fn new(root: OwnedFd) -> Self {
        Self {
            root: Arc::new(root),
            open: Mutex::new(Open::default()),
        }
    }

    pub(super) fn root(&self) -> &Arc<OwnedFd> {
        &self.root
    }

    /// Returns the directory, opened so that names can be used in it.
    pub(super) fn get(&self, tree: &Tree, id: Id) -> Result<Arc<OwnedFd>> {
        // Walks up to a directory that is open, and then down again.
        let mut below: Vec<(Id, OsString)> = Vec::new();
        let mut current = id;
        let mut directory = loop {
            if let Some(open) = self.find(current) {
                break open;
            }
            let (parent, name) = tree.name_of(current).ok_or(Errno::NOENT)?;
            below.push((current, name));
            current = parent;
        };
        while let Some((id, name)) = below.pop() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = openat(&*directory, &name, flags, Mode::empty())?;
            if tree.id(&fstat(&opened)?) != Some(id) {
                // It was changed behind the mount.
                return Err(Errno::STALE);
            }
            directory = Arc::new(opened);
            self.lock().keep(id, Arc::clone(&directory));
        }
        Ok(directory)
    }

    /// Closes a directory that was removed.
    pub(super) fn forget(&self, id: Id) {
        self.lock().directories.remove(&id);
    }

    fn find(&self, id: Id) -> Option<Arc<OwnedFd>> {
        if id == ROOT {
            return Some(Arc::clone(&self.root));
        }
        let mut open = self.lock();
        open.uses += 1;
        let now = open.uses;
        let (directory, used) = open.directories.get_mut(&id)?;
        *used = now;
        Some(Arc::clone(directory))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn keep(&mut self, id: Id, directory: Arc<OwnedFd>) {
        if self.directories.len() >= MAX_OPEN {
            let oldest = self.directories.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                self.directories.remove(&oldest);
            }
        }
        self.uses += 1;
        self.directories.insert(id, (directory, self.uses));
    }
}
