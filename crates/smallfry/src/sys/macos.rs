//! macOS, and the BSDs: file sizes are always of 64 bits.

use std::ffi::CStr;
use std::path::PathBuf;

#[path = "macos/extended.rs"]
pub(in crate::sys) mod extended;
#[path = "macos/flush.rs"]
pub(in crate::sys) mod flush;

use super::{BorrowedFile, OwnedFile};
use crate::errno::Errno;

pub(in crate::sys) use libc::openat;
pub(super) use libc::{fstat, open, stat as FullStatus};

/// The most that one read or write is asked for. macOS refuses more than `INT_MAX` with `EINVAL` instead of taking a
/// part.
///
/// [write(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html)
pub(super) const MAX_PER_CALL: usize = libc::c_int::MAX as usize - 1;

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

/// `fstat`: a number for the file system that an open file is on.
///
/// [fstat(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fstat.2.html)
pub(in crate::sys) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    let status = super::full_status(file).ok()?;
    u64::try_from(status.st_dev).ok()
}

/// [`device_of`] a regular file.
pub(in crate::sys) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    let status = super::full_status(file).ok()?;
    let is_regular = status.st_mode & libc::S_IFMT == libc::S_IFREG;
    u64::try_from(status.st_dev).ok().filter(|_| is_regular)
}

/// Disks of this machine have nothing to report either, but nothing here tells them from others.
pub(in crate::sys) fn reports_at_close(_file: BorrowedFile<'_>) -> bool {
    true
}

/// `fcntl(F_GETPATH)`: the path of an open file. The BSDs have nothing like it.
///
/// [fcntl(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    let mut buffer = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the system writes at most PATH_MAX bytes there, the closing NUL among them.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETPATH, buffer.as_mut_ptr()) } < 0 {
        return None;
    }
    let path = CStr::from_bytes_until_nul(&buffer).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// The path of an open file: these systems do not tell.
#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn path_of(_file: BorrowedFile<'_>) -> Option<PathBuf> {
    None
}
