//! Unix: what can be asked of an open file before it is closed.

use std::path::PathBuf;

use super::platform::{BorrowedFile, full_status, variant};

/// `fstat`: a number for the file system that an open file is on. `None` if the system does not tell.
///
/// [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
pub(crate) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    // The type of the number differs from system to system.
    #[allow(
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast
    )]
    full_status(file).ok().map(|status| status.st_dev as u64)
}

/// Whether closing a file on that file system may report an error. True where that is not known.
pub(crate) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    variant::reports_at_close(file)
}

/// The path of an open file, as the system remembers it; `None` if it has none.
pub(crate) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    variant::path_of(file).filter(|path| path.is_absolute())
}
