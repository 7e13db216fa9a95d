//! Unix: what can be asked of an open file before it is closed.

use std::path::PathBuf;

use super::platform::{BorrowedFile, variant};

/// A number for the file system that an open file is on; `None` if the system does not tell. Without asking a server, and
/// without making one wait for what was written.
pub(crate) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    variant::device_of(file)
}

/// Whether closing a file on that file system may report an error. True where that is not known.
pub(crate) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    variant::reports_at_close(file)
}

/// The path of an open file, as the system remembers it; `None` if it has none.
pub(crate) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    variant::path_of(file).filter(|path| path.is_absolute())
}
