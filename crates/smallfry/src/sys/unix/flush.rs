//! Unix: making written files durable.

use std::io;

use super::platform::{BorrowedFile, OwnedFile, borrow};
use super::variant;
use crate::errno::Errno;

pub(crate) use variant::flush::{WholeFileSystem, begin_flush, unwritten_bytes};

/// True if the names in a directory become durable by flushing it.
pub(crate) const FLUSHES_DIRECTORIES: bool = true;

/// The flags that a file must be opened with to be flushed, besides other flags.
pub(crate) const FLUSHABLE: i32 = 0;

/// The flag that makes opening anything but a directory fail.
pub(crate) const O_DIRECTORY: i32 = libc::O_DIRECTORY;

/// Flushes the contents of a file, and the metadata that it takes to find them. An interrupted call
/// is repeated: it has reported nothing yet.
///
/// `fdatasync` or the system's equivalent,
/// [fdatasync(2)](https://man7.org/linux/man-pages/man2/fdatasync.2.html)
pub(crate) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    variant::flush::flush_contents(file)
}

/// Flushes a file with all its metadata. An interrupted call is repeated.
///
/// `fsync` or the system's equivalent,
/// [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub(crate) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    variant::flush::flush_file(file)
}

/// Flushes the names in a directory.
///
/// `fsync`, [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub(crate) fn flush_directory(directory: &OwnedFile) -> io::Result<()> {
    Ok(variant::flush::flush_directory(borrow(directory))?)
}
