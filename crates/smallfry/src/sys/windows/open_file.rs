//! Windows: what can be asked of an open file before it is closed.

use std::path::PathBuf;

use super::platform::BorrowedFile;

/// All are one: it is the scanner that makes closing slow, and it watches all of them.
pub(crate) fn device_of(_file: BorrowedFile<'_>) -> Option<u64> {
    Some(0)
}

/// `CloseHandle` fails for what is no open handle only.
///
/// [CloseHandle](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle)
pub(crate) fn reports_at_close(_file: BorrowedFile<'_>) -> bool {
    false
}

/// Nobody needs it, as nothing is reported.
pub(crate) fn path_of(_file: BorrowedFile<'_>) -> Option<PathBuf> {
    None
}
