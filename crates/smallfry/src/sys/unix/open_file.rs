//! Unix: what can be asked of an open file before it is closed.

use std::os::fd::AsRawFd;
use std::path::PathBuf;

use super::platform::{BorrowedFile, variant};

/// A number for the file system that an open file is on; `None` if the system does not tell. Without asking a server, and
/// without making one wait for what was written.
pub(crate) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    variant::device_of(file)
}

/// The same of a regular file; `None` for pipes and devices, too.
pub(crate) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    variant::device_of_regular(file)
}

/// Whether closing a file on that file system may report an error. True where that is not known.
pub(crate) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    variant::reports_at_close(file)
}

/// Whether a file is open for writing; true where the system does not tell.
///
/// [F_GETFL](https://man7.org/linux/man-pages/man2/F_GETFL.2const.html)
pub(crate) fn is_writable(file: BorrowedFile<'_>) -> bool {
    // SAFETY: the descriptor is open as long as it is borrowed.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags < 0 || flags & libc::O_ACCMODE != libc::O_RDONLY
}

/// The path of an open file, as the system remembers it; `None` if it has none.
pub(crate) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    variant::path_of(file).filter(|path| path.is_absolute())
}
