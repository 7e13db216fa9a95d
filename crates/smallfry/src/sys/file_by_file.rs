//! Systems without a call that flushes a whole file system, or with one for administrators only: each file is flushed alone.

use super::platform::BorrowedFile;
use crate::errno::Errno;

/// A file system that one call flushes whole: none here.
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

/// Nobody asks: it bounds what a whole file system costs.
pub(crate) fn unwritten_bytes() -> Option<u64> {
    None
}

/// The system begins when it likes.
#[allow(
    clippy::unnecessary_wraps,
    reason = "other systems can be told, and tell"
)]
pub(crate) fn begin_flush(_file: BorrowedFile<'_>) -> Result<(), Errno> {
    Ok(())
}
