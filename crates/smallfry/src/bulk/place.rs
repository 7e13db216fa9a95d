//! Where the files of a batch are.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::descriptors::Patience;
use crate::close::Closer;
use crate::error::{Error, Operation};
use crate::fs::{copy_file, copy_path};
use crate::parents::{Directories, Parents, is_dir};
use crate::raw::{self, OwnedFile};
use crate::sys;
use crate::within::{Root, case_key};

/// Resolves the paths of a batch: as the process does, or beneath a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    root: Option<Arc<Root>>,
    /// Of one batch: each has a clone.
    patience: Patience,
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A symbolic link, and what it says.
    Link(PathBuf),
    Other(Metadata),
}

impl Place {
    /// Beneath `directory` from now on.
    pub(crate) fn enter(&mut self, directory: &Path) -> Result<(), Error> {
        let root = Patience::default()
            .open(|| Root::open_dir(directory))
            .map_err(|reason| Error::at(Operation::Open, directory, reason))?;
        self.root = Some(Arc::new(root));
        Ok(())
    }

    /// A path that leads to the same from wherever it is resolved later.
    pub(crate) fn absolute(&self, path: PathBuf) -> PathBuf {
        if self.root.is_some() || path.is_absolute() {
            return path;
        }
        std::path::absolute(&path).unwrap_or(path)
    }

    /// The same, where nothing is waited for.
    pub(crate) fn without_patience(&self) -> Self {
        Self {
            root: self.root.clone(),
            patience: Patience::none(),
        }
    }

    /// Whether [`enter`](Self::enter) was called.
    pub(crate) fn is_beneath(&self) -> bool {
        self.root.is_some()
    }

    /// Opens a file, when there are descriptors again if there are none.
    pub(crate) fn open(&self, path: &Path, flags: i32, mode: u32) -> Result<OwnedFile, Error> {
        self.patience
            .open(|| match &self.root {
                None => sys::open_path(path, flags, mode),
                Some(root) => root.open(path, flags, mode),
            })
            .map_err(|reason| Error::at(Operation::Open, path, reason))
    }

    /// As [`open`](Self::open), making the directories above the file if they are missing.
    pub(crate) fn open_with_parents(
        &self,
        parents: &Parents,
        path: &Path,
        flags: i32,
        mode: u32,
    ) -> Result<OwnedFile, Error> {
        parents.retry(self, path, || self.open(path, flags, mode))
    }

    /// Size, kind and times; links are followed.
    pub(crate) fn stat(&self, path: &Path) -> Result<Metadata, Error> {
        self.metadata(path)
            .map_err(|reason| Error::at(Operation::Stat, path, reason))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.patience.open(|| match &self.root {
            None => std::fs::metadata(path),
            Some(root) => root.stat(path),
        })
    }

    /// What is at `path` itself, links not followed.
    pub(crate) fn look(&self, path: &Path) -> io::Result<Found> {
        match &self.root {
            // Neither takes a descriptor.
            None => {
                let found = std::fs::symlink_metadata(path)?;
                if found.is_symlink() {
                    match std::fs::read_link(path) {
                        // Something else has taken its place meanwhile.
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            return std::fs::symlink_metadata(path).map(Found::Other);
                        }
                        link => return link.map(Found::Link),
                    }
                }
                Ok(Found::Other(found))
            }
            Some(root) => self.patience.open(|| match root.read_link(path)? {
                Some(link) => Ok(Found::Link(link)),
                None => Ok(Found::Other(root.stat(path)?)),
            }),
        }
    }

    /// Gives a file another name in the same directory. With `flush` the system is asked to make that last, where that is no
    /// call of its own.
    pub(crate) fn rename(&self, from: &Path, to: &Path, flush: bool) -> io::Result<()> {
        Closer::global().make_way(to);
        match &self.root {
            None if flush => sys::rename_and_flush(from, to),
            None => sys::rename(from, to),
            Some(root) => self.patience.open(|| root.rename(from, to)),
        }
    }

    /// Whether [`rename`](Self::rename) is possible.
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
        self.patience.open(|| match &self.root {
            None => sys::open_path(path, raw::O_RDONLY | sys::O_DIRECTORY, 0),
            Some(root) => root.open(path, raw::O_RDONLY | sys::O_DIRECTORY, 0),
        })
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), Error> {
        Closer::global().make_way(path);
        self.patience
            .open(|| match &self.root {
                None => std::fs::remove_file(path),
                Some(root) => root.remove_file(path),
            })
            .map_err(|reason| Error::at(Operation::Unlink, path, reason))
    }

    /// Copies contents and permissions of a file.
    pub(crate) fn copy(&self, from: &Path, to: &Path) -> Result<u64, Error> {
        Closer::global().make_way(to);
        self.patience
            .open(|| match &self.root {
                None => copy_path(from, to),
                Some(root) => {
                    let source = root.open(from, raw::O_RDONLY, 0)?;
                    let create = |flags, mode| root.open(to, flags, mode);
                    let (length, destination) = copy_file(&source.into(), create)?;
                    raw::close(destination)?;
                    Ok(length)
                }
            })
            .map_err(|reason| Error::between(Operation::Copy, from, to, reason))
    }

    /// What two paths of a batch share that lead to one file though they differ in case; `None` if that cannot be.
    pub(crate) fn case_key(&self, path: &Path) -> Option<Vec<u8>> {
        self.root.as_ref()?;
        case_key(path)
    }
}

impl Directories for Place {
    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.patience.open(|| match &self.root {
            None => std::fs::create_dir(directory),
            Some(root) => root.create_dir(directory),
        })
    }

    fn is_dir(&self, directory: &Path) -> io::Result<bool> {
        is_dir(self.metadata(directory))
    }
}

/// The same for all spellings of a path that differ by `.` or repeated separators only.
pub fn key_of(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    without_dot(path).hash(&mut hasher);
    hasher.finish()
}

/// The path without a `.` that it begins with: the only one that the standard library does not pass over where it
/// compares paths.
pub(crate) fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_have_one_key() {
        for spelling in ["./a/b", "././a/b", ".//a/b", "a/./b", "a//b", "a/b/"] {
            let (spelling, path) = (Path::new(spelling), Path::new("a/b"));
            assert_eq!(key_of(spelling), key_of(path), "{}", spelling.display());
        }
        for other in ["../a/b", ".a/b", "a", "b", "a/../a/b", "./a/.b", ""] {
            assert_ne!(
                key_of(Path::new(other)),
                key_of(Path::new("a/b")),
                "{other}"
            );
        }
    }
}
