//! The base of a batch: where its relative paths start.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::beneath::{Root, case_key};
use super::descriptors::Backoff;
use super::parents::{MakeDirectories, Parents, is_dir};
use crate::closer::Closer;
use crate::error::{Error, Operation};
use crate::raw::{self, OwnedFile};
use crate::sys::{self, PathStatus};

/// The base from which the paths of a batch are resolved: the working directory of the process, or
/// a directory that no path may leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    root: Option<Arc<Root>>,
    /// Each batch has its own.
    backoff: Backoff,
}

/// The file at the end of a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A symbolic link, with its target.
    Link(PathBuf),
    Other(PathStatus),
}

impl Base {
    /// Resolves all paths beneath `directory` from now on.
    pub(crate) fn enter(&mut self, directory: &Path) -> Result<(), Error> {
        let root = Backoff::default()
            .open(|| Root::open_dir(directory))
            .map_err(|reason| Error::at(Operation::Open, directory, reason))?;
        self.root = Some(Arc::new(root));
        Ok(())
    }

    /// Makes a path independent of the working directory, which may change.
    pub(crate) fn absolute(&self, path: PathBuf) -> PathBuf {
        if self.root.is_some() || path.is_absolute() {
            return path;
        }
        std::path::absolute(&path).unwrap_or(path)
    }

    /// Returns this base without waiting for descriptors.
    pub(crate) fn no_wait(&self) -> Self {
        Self {
            root: self.root.clone(),
            backoff: Backoff::no_wait(),
        }
    }

    /// Returns true after [`enter`](Self::enter).
    pub(crate) fn is_beneath(&self) -> bool {
        self.root.is_some()
    }

    /// Returns true for the URL of an object in a store. Beneath a directory each name is a path.
    #[cfg(feature = "store")]
    pub(crate) fn is_url(&self, path: &Path) -> bool {
        self.root.is_none() && super::is_url(path)
    }

    /// Opens a file. If no descriptor is left, waits for one.
    pub(crate) fn open(&self, path: &Path, flags: i32, mode: u32) -> Result<OwnedFile, Error> {
        self.backoff
            .open(|| match &self.root {
                None => sys::open_path(path, flags, mode),
                Some(root) => root.open(path, flags, mode),
            })
            .map_err(|reason| Error::at(Operation::Open, path, reason))
    }

    /// Opens a file as [`open`](Self::open) does, and creates missing directories above it.
    pub(crate) fn open_with_parents(
        &self,
        parents: &Parents,
        path: &Path,
        flags: i32,
        mode: u32,
    ) -> Result<OwnedFile, Error> {
        parents.retry(self, path, || self.open(path, flags, mode))
    }

    /// Returns size, kind and times. Links are followed.
    pub(crate) fn stat(&self, path: &Path) -> Result<Metadata, Error> {
        self.metadata(path)
            .map_err(|reason| Error::at(Operation::Stat, path, reason))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.backoff.open(|| match &self.root {
            None => std::fs::metadata(path),
            Some(root) => root.stat(path),
        })
    }

    /// Returns what is at `path` itself. Links are not followed.
    pub(crate) fn look(&self, path: &Path) -> io::Result<Found> {
        match &self.root {
            // Neither call takes a descriptor.
            None => {
                let found = sys::path_status(path)?;
                if found.is_symlink() {
                    match std::fs::read_link(path) {
                        // Another program has replaced the link meanwhile.
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            return sys::path_status(path).map(Found::Other);
                        }
                        link => return link.map(Found::Link),
                    }
                }
                Ok(Found::Other(found))
            }
            Some(root) => self.backoff.open(|| match root.read_link(path)? {
                Some(link) => Ok(Found::Link(link)),
                None => Ok(Found::Other(root.stat(path)?.into())),
            }),
        }
    }

    /// Renames a file within its directory. With `flush` the rename itself is durable on systems
    /// where that is an option of the call.
    pub(crate) fn rename(&self, from: &Path, to: &Path, flush: bool) -> io::Result<()> {
        Closer::global().make_way(to);
        match &self.root {
            None if flush => sys::rename_and_flush(from, to),
            None => sys::rename(from, to),
            Some(root) => self.backoff.open(|| root.rename(from, to)),
        }
    }

    /// Returns true if [`rename`](Self::rename) is possible.
    pub(crate) fn can_rename(&self) -> bool {
        self.root.is_none() || sys::RENAMES_BENEATH
    }

    /// Opens a directory to flush it.
    pub(crate) fn open_directory(&self, path: &Path) -> io::Result<OwnedFile> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        self.backoff.open(|| match &self.root {
            None => sys::open_path(path, raw::O_RDONLY | sys::O_DIRECTORY, 0),
            Some(root) => root.open(path, raw::O_RDONLY | sys::O_DIRECTORY, 0),
        })
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), Error> {
        Closer::global().make_way(path);
        self.backoff
            .open(|| match &self.root {
                None => std::fs::remove_file(path),
                Some(root) => root.remove_file(path),
            })
            .map_err(|reason| Error::at(Operation::Unlink, path, reason))
    }

    /// Runs an operation that opens several files. If no descriptor is left, waits for some and
    /// runs it again.
    pub(crate) fn with_descriptors<T>(
        &self,
        run: impl FnMut(Option<&Root>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut run = run;
        self.backoff.open(|| run(self.root.as_deref()))
    }

    /// Returns a key that two paths share if they differ in case only and lead to one file; `None`
    /// if the system tells them apart.
    pub(crate) fn case_key(&self, path: &Path) -> Option<Vec<u8>> {
        self.root.as_ref()?;
        case_key(path)
    }
}

impl MakeDirectories for Base {
    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.backoff.open(|| match &self.root {
            None => std::fs::create_dir(directory),
            Some(root) => root.create_dir(directory),
        })
    }

    fn is_dir(&self, directory: &Path) -> io::Result<bool> {
        is_dir(self.metadata(directory))
    }
}
