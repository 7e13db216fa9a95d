//! Open files and directories: real descriptors, by the numbers that the kernel sends back.

use super::tree::Id;
use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Result;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// An open file.
pub(super) struct File {
    pub(super) descriptor: OwnedFd,
    pub(super) id: Id,
    /// True if it changed since its last close. Of several closes of one description, one counts.
    changed: AtomicBool,
    /// Bytes written since the last flush or close.
    written: AtomicU64,
}

impl File {
    pub(super) fn new(descriptor: OwnedFd, id: Id, changed: bool) -> Self {
        Self {
            descriptor,
            id,
            changed: AtomicBool::new(changed),
            written: AtomicU64::new(0),
        }
    }

    pub(super) fn change(&self, bytes: u64) {
        self.changed.store(true, Ordering::Relaxed);
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns whether a close now closes a written file. The next close does not, unless more is
    /// written.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    pub(super) fn take_written(&self) -> u64 {
        self.written.swap(0, Ordering::Relaxed)
    }
}

/// An entry of a directory.
pub(super) struct Entry {
    pub(super) inode: u64,
    pub(super) kind: FileType,
    pub(super) name: OsString,
}

/// An open directory, with its entries as last read from the beginning.
pub(super) struct Directory {
    pub(super) descriptor: OwnedFd,
    entries: Mutex<Arc<Vec<Entry>>>,
}

impl Directory {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self {
            descriptor,
            entries: Mutex::default(),
        }
    }

    /// The entries as last read.
    pub(super) fn entries(&self) -> Arc<Vec<Entry>> {
        Arc::clone(&self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the entries now, and sorts them by inode, which is their order on the simulated disk.
    pub(super) fn read(&self) -> Result<Arc<Vec<Entry>>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            let kind = match entry.file_type() {
                FileType::Unknown => kind_of(&self.descriptor, &name),
                kind => kind,
            };
            entries.push(Entry {
                inode: entry.ino(),
                kind,
                name,
            });
        }
        entries
            .sort_unstable_by(|one, other| (one.inode, &one.name).cmp(&(other.inode, &other.name)));
        let entries = Arc::new(entries);
        *self.entries.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&entries);
        Ok(entries)
    }
}

/// Open files or directories, by number.
pub(super) struct Handles<T> {
    open: RwLock<HashMap<u64, Arc<T>>>,
    last: AtomicU64,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self {
            open: RwLock::default(),
            last: AtomicU64::new(0),
        }
    }
}

impl<T> Handles<T> {
    pub(super) fn add(&self, handle: T) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.open
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, Arc::new(handle));
        number
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<T>> {
        self.open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&number)
            .cloned()
    }

    pub(super) fn remove(&self, number: u64) {
        self.open
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
    }

    /// Finds an open one that matches, for an inode that has no name any more.
    pub(super) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        self.open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .find(|handle| wanted(handle))
            .cloned()
    }
}

fn kind_of(directory: &OwnedFd, name: &OsStr) -> FileType {
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_or(FileType::RegularFile, |stat| {
        FileType::from_raw_mode(stat.st_mode)
    })
}
