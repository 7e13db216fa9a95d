//! Unix: questions about a file before it is closed.

use std::path::PathBuf;

use rustix::fs::{OFlags, fcntl_getfl};

use super::platform::BorrowedFile;
use super::variant;

/// Returns a number for the file system that an open file is on; `None` if the system does not
/// tell. No server is asked, and none waits for written bytes.
pub(crate) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    variant::device_of(file)
}

/// Returns [`device_of`] a regular file; `None` for pipes and devices too.
pub(crate) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    variant::device_of_regular(file)
}

/// Returns true if closing a file on that file system may report an error, or if that is not known.
pub(crate) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    variant::reports_at_close(file)
}

/// Returns true if a file is open for writing, or if the system does not tell.
///
/// `fcntl(F_GETFL)`, [F_GETFL(2const)](https://man7.org/linux/man-pages/man2/F_GETFL.2const.html)
pub(crate) fn is_writable(file: BorrowedFile<'_>) -> bool {
    !fcntl_getfl(file).is_ok_and(|flags| flags & OFlags::ACCMODE == OFlags::RDONLY)
}

/// Returns the path of an open file, as the system remembers it; `None` if it has none.
pub(crate) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    variant::path_of(file).filter(|path| path.is_absolute())
}
