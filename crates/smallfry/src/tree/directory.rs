//! The directories of a tree that are open, a bounded number of them.
//!
//! A job holds its directory, and the directory those above it. Each is opened by its name in the
//! one above, so that no link is followed that is not meant to be. When too many are open, the one
//! that has been open for longest is closed. It is opened again when it is needed: from a directory
//! in it by `..`, or down from one above. A directory that is not the same then is an error.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::errno::Errno;
use crate::path::Backoff;
use crate::sys::{self, EntryStatus, Identity, Name, OpenDirectory, OwnedName};

/// A directory of a tree.
pub(crate) struct Directory {
    /// The directory above it, and its name there. `None` for the one where the tree begins.
    place: Option<(Arc<Directory>, OwnedName)>,
    identity: Identity,
    /// The name may be that of a link to the directory.
    may_be_behind_link: bool,
    open: Mutex<Option<Arc<OpenDirectory>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Directory {
    /// Makes one that is not there, so that entries in it have paths. It cannot be opened.
    pub(super) fn absent(place: Option<(Arc<Self>, OwnedName)>, identity: Identity) -> Arc<Self> {
        Arc::new(Self {
            place,
            identity,
            may_be_behind_link: false,
            open: Mutex::default(),
        })
    }

    /// Returns what it is.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the directory above it, and its name there.
    pub(crate) fn place(&self) -> Option<&(Arc<Self>, OwnedName)> {
        self.place.as_ref()
    }

    /// Closes the directory, where an open one would be in the way of its removal.
    pub(super) fn make_way(&self) {
        if sys::OPEN_FILES_ARE_IN_THE_WAY {
            *lock(&self.open) = None;
        }
    }

    /// Returns the path of an entry, below that of the directory where the tree begins.
    pub(crate) fn path_of(&self, start: &Path, name: &Name) -> PathBuf {
        let mut names = vec![sys::as_path(name)];
        let mut directory = self;
        while let Some((above, name)) = &directory.place {
            names.push(sys::as_path(name));
            directory = above;
        }
        names.reverse();
        start.join(names.iter().collect::<PathBuf>())
    }
}

impl Drop for Directory {
    /// Drops those above in a loop. They may be too many for a recursion.
    fn drop(&mut self) {
        let mut place = self.place.take();
        while let Some((above, _)) = place {
            place = Arc::into_inner(above).and_then(|mut above| above.place.take());
        }
    }
}

/// The open directories of a tree, or of two.
pub(crate) struct Directories {
    /// The number that may be open at once.
    limit: usize,
    open: Mutex<VecDeque<Weak<Directory>>>,
    backoff: Backoff,
}

/// The maximum number of directories of a tree that are open at once.
const MAX_OPEN: usize = 256;

impl Directories {
    pub(crate) fn new() -> Self {
        Self {
            limit: (sys::descriptor_limit() / 8).clamp(2, MAX_OPEN),
            open: Mutex::default(),
            backoff: Backoff::default(),
        }
    }

    /// Opens something. If no descriptor is left, closes directories, then waits.
    pub(crate) fn with_descriptors<T>(
        &self,
        mut open: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        match open() {
            Err(error) if crate::errno::is_out_of_descriptors(&error) => {
                self.close_to(0);
                self.backoff.open(open)
            }
            done => done,
        }
    }

    /// Opens the directory where a tree begins, empty for the current one. It stays open.
    pub(crate) fn begin(&self, path: &Path) -> io::Result<Arc<Directory>> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let open = self.with_descriptors(|| OpenDirectory::open(path))?;
        Ok(Arc::new(Directory {
            place: None,
            identity: open.status()?.identity,
            may_be_behind_link: false,
            open: Mutex::new(Some(Arc::new(open))),
        }))
    }

    /// Opens a directory in another one.
    pub(crate) fn enter(
        &self,
        above: &Arc<Directory>,
        name: &Name,
    ) -> io::Result<(Arc<Directory>, EntryStatus)> {
        self.enter_by(above, name, false)
    }

    /// Opens a directory in another one, or a directory to which a link there leads.
    pub(super) fn enter_behind(
        &self,
        above: &Arc<Directory>,
        name: &Name,
    ) -> io::Result<(Arc<Directory>, EntryStatus)> {
        self.enter_by(above, name, true)
    }

    fn enter_by(
        &self,
        above: &Arc<Directory>,
        name: &Name,
        follows: bool,
    ) -> io::Result<(Arc<Directory>, EntryStatus)> {
        let place = self.open(above)?;
        let open = self.with_descriptors(|| Ok(open_in(&place, name, follows)?))?;
        let status = open.status()?;
        let directory = Arc::new(Directory {
            place: Some((Arc::clone(above), name.to_owned())),
            identity: status.identity,
            may_be_behind_link: follows,
            open: Mutex::new(Some(Arc::new(open))),
        });
        self.keep(&directory);
        Ok((directory, status))
    }

    /// Returns the open directory. It is opened again if it has been closed.
    pub(crate) fn open(&self, directory: &Arc<Directory>) -> io::Result<Arc<OpenDirectory>> {
        if let Some(open) = &*lock(&directory.open) {
            return Ok(Arc::clone(open));
        }
        // Up to one that is open, and down again.
        let mut closed = Vec::new();
        let mut here = directory;
        let mut open = loop {
            if let Some(open) = &*lock(&here.open) {
                break Arc::clone(open);
            }
            let Some((above, name)) = &here.place else {
                return Err(io::ErrorKind::NotFound.into());
            };
            closed.push((name, here));
            here = above;
        };
        for (name, here) in closed.into_iter().rev() {
            let next =
                self.with_descriptors(|| Ok(open_in(&open, name, here.may_be_behind_link)?))?;
            if next.status()?.identity != here.identity {
                return Err(replaced());
            }
            open = Arc::new(next);
        }
        self.reopened(directory, &open);
        Ok(open)
    }

    /// Returns the open directory above one that is open.
    pub(crate) fn open_above(
        &self,
        above: &Arc<Directory>,
        below: &Directory,
    ) -> io::Result<Arc<OpenDirectory>> {
        if let Some(open) = &*lock(&above.open) {
            return Ok(Arc::clone(open));
        }
        let open = lock(&below.open).clone();
        // Where the system refuses this, the way down from above may be open.
        if let Some(below) = open
            && let Ok(open) = self.with_descriptors(|| Ok(below.open_parent()?))
            && open.status()?.identity == above.identity
        {
            let open = Arc::new(open);
            self.reopened(above, &open);
            return Ok(open);
        }
        self.open(above)
    }

    fn reopened(&self, directory: &Arc<Directory>, open: &Arc<OpenDirectory>) {
        *lock(&directory.open) = Some(Arc::clone(open));
        self.keep(directory);
    }

    /// Remembers that a directory is open, and closes others if they are too many.
    fn keep(&self, directory: &Arc<Directory>) {
        lock(&self.open).push_back(Arc::downgrade(directory));
        self.close_to(self.limit);
    }

    /// Closes those that have been open for longest, until so many are left. A thread that uses one
    /// keeps it open.
    fn close_to(&self, limit: usize) {
        let mut open = lock(&self.open);
        while open.len() > limit {
            let Some(oldest) = open.pop_front() else {
                return;
            };
            if let Some(directory) = oldest.upgrade() {
                *lock(&directory.open) = None;
            }
        }
    }
}

/// Opens a directory by its name in the one above.
fn open_in(above: &OpenDirectory, name: &Name, follows: bool) -> Result<OpenDirectory, Errno> {
    if follows {
        above.open_directory_behind(name)
    } else {
        above.open_directory(name)
    }
}

fn replaced() -> io::Error {
    io::Error::other("the directory was replaced by another one meanwhile")
}
