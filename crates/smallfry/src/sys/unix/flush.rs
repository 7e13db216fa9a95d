//! Unix: making the disk hold what was written.

use std::io;

use super::platform::{BorrowedFile, OwnedFile, borrow, variant};
use crate::errno::Errno;

pub(crate) use variant::flush::{WholeFileSystem, begin_flush, unwritten_bytes};

/// Whether the names in a directory are made to last by flushing it.
pub(crate) const FLUSHES_DIRECTORIES: bool = true;

/// How a file must be opened to be flushed, besides what else is asked.
pub(crate) const FLUSHABLE: i32 = 0;

/// Fails for what is no directory.
pub(crate) const O_DIRECTORY: i32 = libc::O_DIRECTORY;

/// `fdatasync`, or what the system has instead: the contents of a file, and of its metadata what it takes to find them.
/// An interrupted call is repeated: it has reported nothing yet.
///
/// [fdatasync(2)](https://man7.org/linux/man-pages/man2/fdatasync.2.html)
pub(crate) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    variant::flush::flush_contents(file)
}

/// `fsync`, or what the system has instead: a file with all its metadata. An interrupted call is repeated.
///
/// [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub(crate) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    variant::flush::flush_file(file)
}

/// `fsync` of a directory: the names in it.
///
/// [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub(crate) fn flush_directory(directory: &OwnedFile) -> io::Result<()> {
    Ok(variant::flush::flush_directory(borrow(directory))?)
}
