//! The flushes of a copy: one for each file system at the end, or one for each file and directory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::directory::Directory;
use super::entry::Transfer;
use crate::durable::{self, Durability};
use crate::error::{Error, Operation};
use crate::raw::{self, OwnedFile};
use crate::sys::{OpenDirectory, WholeFileSystem};

/// The flushes of a copy.
pub(super) struct Flushes {
    level: Durability,
    /// The file systems of the copy by their devices. `None` for one that cannot be flushed whole.
    file_systems: Mutex<HashMap<u64, Option<WholeFileSystem>>>,
    /// Each file and directory is flushed, because a file system cannot be flushed whole.
    is_one_by_one: AtomicBool,
}

impl Flushes {
    pub(super) fn new(level: Durability) -> Self {
        Self {
            level,
            file_systems: Mutex::default(),
            is_one_by_one: AtomicBool::new(false),
        }
    }

    /// Learns the file system of a directory, before anything is written to it.
    pub(super) fn enter(
        &self,
        directory: &Directory,
        open: impl FnOnce() -> io::Result<Arc<OpenDirectory>>,
    ) -> io::Result<()> {
        if self.level == Durability::None {
            return Ok(());
        }
        let mut known = self.file_systems();
        if let Entry::Vacant(unknown) = known.entry(directory.identity().device) {
            let whole = unknown.insert(open()?.whole_file_system());
            if whole.is_none() {
                self.flush_one_by_one();
            }
        }
        Ok(())
    }

    /// Lets each file and directory be flushed.
    pub(super) fn flush_one_by_one(&self) {
        self.is_one_by_one.store(true, Ordering::Relaxed);
    }

    /// Flushes a file before it gets its name. `replaces` is true if another one has that name. The
    /// flush at the end would come too late then: a crash could leave neither of both whole.
    pub(super) fn flush_file(&self, file: &OwnedFile, replaces: bool) -> io::Result<()> {
        let level = match self.level {
            Durability::None => return Ok(()),
            // Its permissions and times are to be those of its contents.
            _ if replaces => Durability::Full,
            level if self.is_one_by_one.load(Ordering::Relaxed) => level,
            _ => return Ok(()),
        };
        durable::flush_file(raw::borrow(file), level).map_err(|(_, errno)| {
            let reason = io::Error::from(errno);
            io::Error::new(reason.kind(), format!("it cannot be flushed: {reason}"))
        })
    }

    /// Flushes a file that is there already, and may never have been flushed.
    pub(super) fn flush_there(&self, entry: &Transfer<'_>) -> io::Result<()> {
        if self.level == Durability::None || !self.is_one_by_one.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.flush_file(&entry.to.open_file(entry.new_name)?, false)
    }

    /// Returns true if a flush has failed in this process, and files are to be flushed.
    pub(super) fn have_failed(&self) -> bool {
        self.level != Durability::None && durable::has_failed()
    }

    /// Flushes a directory whose entries are all there.
    pub(super) fn flush_directory(&self, open: &OpenDirectory) -> io::Result<()> {
        if self.level == Durability::Full && self.is_one_by_one.load(Ordering::Relaxed) {
            durable::flush_directory_of_tree(open)?;
        }
        Ok(())
    }

    /// Flushes a directory above the copy, in which a directory was made.
    pub(super) fn flush_above(&self, path: &Path) -> Result<(), Error> {
        if self.level != Durability::Full {
            return Ok(());
        }
        let is_here = path.as_os_str().is_empty();
        durable::sync_dir(if is_here { Path::new(".") } else { path })
    }

    /// Flushes the file systems of the copy at `to`.
    pub(super) fn end(&self, to: &Path) -> Result<(), Error> {
        for whole in self.file_systems().values().flatten() {
            durable::flush_whole(whole).map_err(|errno| Error::at(Operation::Syncfs, to, errno))?;
        }
        Ok(())
    }

    fn file_systems(&self) -> MutexGuard<'_, HashMap<u64, Option<WholeFileSystem>>> {
        self.file_systems
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
