//! macOS, and the BSDs: file sizes are always of 64 bits.

use std::ffi::CStr;

use super::{BorrowedFile, OwnedFile};
use crate::raw::Errno;

pub(in crate::sys) use libc::openat;
pub(super) use libc::{fstat, open, stat as FullStatus};

/// The most that one read or write is asked for. macOS refuses more than `INT_MAX` with `EINVAL` instead of taking a
/// part.
///
/// [write(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html)
pub(super) const MOST_PER_CALL: usize = libc::c_int::MAX as usize - 1;

/// Disks fold case unless they are formatted not to; those of the BSDs never do.
pub(super) const FOLDS_CASE: bool = cfg!(target_vendor = "apple");

/// Opens something only as a place to start from, or to ask about. Not all of these systems have a flag for that, so
/// it is opened for reading, without waiting, and must be readable.
pub(in crate::sys) const O_PLACE: i32 = libc::O_RDONLY | libc::O_NONBLOCK;

/// These systems cannot resolve a whole path beneath a directory in one call that all their versions have.
pub(in crate::sys) fn open_beneath(
    _directory: BorrowedFile<'_>,
    _path: &CStr,
    _flags: i32,
    _mode: u32,
) -> Result<OwnedFile, Errno> {
    Err(Errno(libc::ENOSYS))
}
