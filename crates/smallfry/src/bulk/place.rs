//! Where the files of a batch are.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use super::descriptors::patiently;
use crate::error::{Error, Operation};
use crate::raw::OwnedFile;
use crate::sys;

/// Opens files and makes directories for a batch: anywhere, or beneath a directory.
#[derive(Debug, Default)]
pub(super) enum Place {
    /// As the process sees paths.
    #[default]
    Anywhere,
}

impl Place {
    /// Opens a file, when there are descriptors again if there are none.
    pub(super) fn open(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        patiently(|| match self {
            Self::Anywhere => sys::open_path(path, flags, mode),
        })
    }

    /// Makes the directories above `path`, those that are missing.
    #[cold]
    pub(super) fn create_parents(&self, path: &Path) -> Result<(), Error> {
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent)
                .map_err(|reason| Error::at(Operation::Mkdir, parent, reason)),
            _ => Ok(()),
        }
    }

    /// Size, kind and times; links are followed.
    pub(super) fn stat(&self, path: &Path) -> Result<Metadata, Error> {
        std::fs::metadata(path).map_err(|reason| Error::at(Operation::Stat, path, reason))
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, path: &Path) -> Result<(), Error> {
        std::fs::remove_file(path).map_err(|reason| Error::at(Operation::Unlink, path, reason))
    }
}
