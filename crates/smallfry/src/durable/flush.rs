//! Flushes files and directories, and remembers that a flush has failed.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Operation};
use crate::path::Base;
use crate::raw::{self, BorrowedFile};
use crate::sys::{self, OpenDirectory, WholeFileSystem};
use crate::write::Durability;

/// A flush has failed in this process. From then on no file counts as written because it reads as
/// it should.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Records that a flush has failed.
pub(super) fn note_failure() {
    HAS_FAILED.store(true, Ordering::Relaxed);
}

/// Returns true if a flush has failed in this process.
pub(crate) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Flushes an open file at that level. An error comes with its operation.
pub(crate) fn flush_file(
    file: BorrowedFile<'_>,
    level: Durability,
) -> Result<(), (Operation, raw::Errno)> {
    let (operation, done) = match level {
        Durability::None => return Ok(()),
        Durability::Data => (Operation::Fdatasync, sys::flush_contents(file)),
        Durability::Full => (Operation::Fsync, sys::flush_file(file)),
    };
    done.map_err(|error| {
        // A pipe and the like cannot be flushed at all, which loses nothing.
        if error.kind() != io::ErrorKind::InvalidInput {
            note_failure();
        }
        (operation, error)
    })
}

/// Flushes a whole file system.
pub(crate) fn flush_whole(file_system: &WholeFileSystem) -> Result<(), raw::Errno> {
    file_system.flush().inspect_err(|_| note_failure())
}

/// Flushes an open directory of a tree.
pub(crate) fn flush_directory_of_tree(directory: &OpenDirectory) -> io::Result<()> {
    directory.flush().inspect_err(|_| note_failure())
}

/// Opens a directory and flushes it.
pub(super) fn sync_dir_of(base: &Base, path: &Path) -> Result<(), Error> {
    if !sys::FLUSHES_DIRECTORIES {
        return Ok(());
    }
    let directory = base.open_directory(path);
    let directory = directory.map_err(|reason| Error::at(Operation::Open, path, reason))?;
    flush_directory(&directory, path)
}

/// Flushes an open directory at `path`.
pub(super) fn flush_directory(directory: &raw::OwnedFile, path: &Path) -> Result<(), Error> {
    sys::flush_directory(directory).map_err(|reason| {
        note_failure();
        Error::at(Operation::Fsync, path, reason)
    })
}
