//! Unix: calls whose paths start at an open directory.

use std::ffi::{CStr, CString};

use rustix::buffer::spare_capacity;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::retry_on_intr;

use super::platform::{BorrowedFile, OwnedFile, errno, file_type, mode_from, open_flags};
use crate::errno::Errno;

/// The room for the target of a symbolic link. Linux has no longer paths, and so no longer targets.
const MAX_TARGET: usize = libc::PATH_MAX as usize;

/// Opens `path`, which starts at `directory`. `O_CLOEXEC` is always added. An interrupted call is
/// repeated.
///
/// `openat`, [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html)
pub(super) fn open_at(
    directory: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    retry_on_intr(|| fs::openat(directory, path, open_flags(flags), mode_from(mode))).map_err(errno)
}

/// Makes the directory `path`, which starts at `directory`. A link of that name is not followed.
///
/// An interrupted call is not repeated, since it may have made the directory.
///
/// `mkdirat`, [mkdirat(2)](https://man7.org/linux/man-pages/man2/mkdirat.2.html)
pub(super) fn mkdir_at(directory: BorrowedFile<'_>, path: &CStr, mode: u32) -> Result<(), Errno> {
    fs::mkdirat(directory, path, mode_from(mode)).map_err(errno)
}

/// Removes the file at `path`, which starts at `directory`; of a symbolic link the link itself. A
/// directory is an error.
///
/// An interrupted call is not repeated, since it may have removed the file.
///
/// `unlinkat`, [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
pub(super) fn unlink_at(directory: BorrowedFile<'_>, path: &CStr) -> Result<(), Errno> {
    fs::unlinkat(directory, path, AtFlags::empty()).map_err(errno)
}

/// Renames `from` to `to`, which both start at `directory`. An existing file at `to` is replaced.
///
/// `renameat`, [renameat(2)](https://man7.org/linux/man-pages/man2/renameat.2.html)
pub(super) fn rename_at(directory: BorrowedFile<'_>, from: &CStr, to: &CStr) -> Result<(), Errno> {
    fs::renameat(directory, from, directory, to).map_err(errno)
}

/// Returns the target of the symbolic link `path`, which starts at `directory`. `EINVAL` if it is
/// no link.
///
/// `readlinkat`, [readlinkat(2)](https://man7.org/linux/man-pages/man2/readlinkat.2.html)
pub(super) fn read_link_at(directory: BorrowedFile<'_>, path: &CStr) -> Result<CString, Errno> {
    let mut target = Vec::with_capacity(MAX_TARGET);
    fs::readlinkat_raw(directory, path, spare_capacity(&mut target)).map_err(errno)?;
    if target.len() == target.capacity() {
        // The rest of it may be cut off.
        return Err(Errno(libc::ENAMETOOLONG));
    }
    // No path that a system call took can hold a NUL.
    CString::new(target).map_err(|_| Errno(libc::EINVAL))
}

/// Returns true if the open file is itself a symbolic link. Only `O_PATH` with `O_NOFOLLOW` opens
/// one.
///
/// `fstat`, [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
pub(super) fn is_link(file: BorrowedFile<'_>) -> Result<bool, Errno> {
    Ok(file_type(file)? == FileType::Symlink)
}
