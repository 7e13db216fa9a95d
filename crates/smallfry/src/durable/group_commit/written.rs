//! A file that was written and waits to be flushed.

use std::path::{Path, PathBuf};

use crate::durable::temporary_file::TemporaryFile;
use crate::error::{Error, Operation};
use crate::path::key_of;
use crate::raw::{self, Errno, OwnedFile};
use crate::sys;

/// A file that was written, and is to be flushed and perhaps renamed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) index: usize,
    /// The path that the caller gave.
    pub(super) path: PathBuf,
    /// The key of all spellings of the path.
    pub(super) key: u64,
    /// The number of its file system in the batch.
    pub(super) file_system: usize,
    /// `None` once `syncfs` covers it.
    pub(super) file: Option<OwnedFile>,
    /// The temporary file and its target, of a replacement.
    pub(super) temporary: Option<(TemporaryFile, PathBuf)>,
    /// The system was told to begin writing it.
    has_begun: bool,
    /// The error of that call. The flush after it need not repeat it.
    pub(super) failed: Option<Errno>,
}

impl Written {
    pub(super) fn new(
        index: usize,
        path: &Path,
        file_system: usize,
        file: OwnedFile,
        temporary: Option<(TemporaryFile, PathBuf)>,
    ) -> Self {
        Self {
            index,
            key: key_of(path),
            path: path.to_owned(),
            file_system,
            file: Some(file),
            temporary,
            has_begun: false,
            failed: None,
        }
    }

    /// Tells the system to begin writing the file. The first flush then commits the journal for all
    /// files that have begun.
    pub(super) fn begin_writeback(&mut self) {
        if let Some(file) = &self.file
            && !self.has_begun
        {
            self.failed = sys::begin_flush(raw::borrow(file)).err();
            self.has_begun = true;
        }
    }

    pub(super) fn close(&mut self) -> Result<(), Error> {
        match self.file.take() {
            Some(file) => {
                raw::close(file).map_err(|reason| Error::at(Operation::Close, &self.path, reason))
            }
            None => Ok(()),
        }
    }

    /// Takes the open file, to be closed without the lock.
    pub(super) fn take_file(&mut self) -> Option<ToClose> {
        Some(ToClose {
            index: self.index,
            path: self.path.clone(),
            file: self.file.take()?,
        })
    }
}

/// A file that need not be open any more.
pub(super) struct ToClose {
    pub(super) index: usize,
    pub(super) path: PathBuf,
    pub(super) file: OwnedFile,
}
