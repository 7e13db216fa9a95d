//! Systems that flush each file alone: none of their calls flushes a whole file system, or only one
//! for administrators does.

use super::platform::BorrowedFile;
use crate::errno::Errno;

/// A file system that one call flushes whole. There is none here.
#[derive(Debug)]
pub(crate) enum WholeFileSystem {}

impl WholeFileSystem {
    pub(crate) fn of(_file: BorrowedFile<'_>) -> Option<Self> {
        None
    }

    pub(crate) fn flush(&self) -> Result<(), Errno> {
        match *self {}
    }
}

/// Returns `None`: it is needed only before a whole file system is flushed.
pub(crate) fn unwritten_bytes() -> Option<u64> {
    None
}

/// Does nothing: the system begins to write at a time of its own.
#[allow(clippy::unnecessary_wraps, reason = "other systems report errors")]
pub(crate) fn begin_flush(_file: BorrowedFile<'_>) -> Result<(), Errno> {
    Ok(())
}
