//! Unix: calls that begin at an open directory. Each names its system call and the page that defines it.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd};

use super::platform::{self, BorrowedFile, OwnedFile, last_error, repeat_if_interrupted, variant};
use crate::errno::Errno;

/// Room for what a symbolic link says. Linux has no longer paths, and so no longer links.
const LONGEST_LINK: usize = libc::PATH_MAX as usize;

/// `openat`: opens `path`, begun at `directory`. `O_CLOEXEC` is always added. An interrupted call is repeated.
///
/// [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html)
pub(super) fn open_at(
    directory: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    loop {
        // SAFETY: the path is a NUL-terminated string that outlives the call, and a mode is given whether or not the
        // flags ask for one. It is widened to what C passes through variadic arguments.
        let fd = unsafe {
            variant::openat(
                directory.as_raw_fd(),
                path.as_ptr(),
                flags | libc::O_CLOEXEC,
                libc::c_uint::from(mode as libc::mode_t),
            )
        };
        if fd >= 0 {
            // SAFETY: the system has just returned this descriptor, so it is open and nobody else's.
            return Ok(unsafe { OwnedFile::from_raw_fd(fd) });
        }
        repeat_if_interrupted()?;
    }
}

/// `mkdirat`: makes the directory `path`, begun at `directory`. Does not follow a link of that name.
///
/// Not repeated if interrupted: it may have been done.
///
/// [mkdirat(2)](https://man7.org/linux/man-pages/man2/mkdirat.2.html)
pub(super) fn mkdir_at(directory: BorrowedFile<'_>, path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path is a NUL-terminated string that outlives the call.
    check(unsafe { libc::mkdirat(directory.as_raw_fd(), path.as_ptr(), mode as libc::mode_t) })
}

/// `unlinkat`: removes what `path` names, begun at `directory`, unless it is a directory. A symbolic link goes itself.
///
/// Not repeated if interrupted: it may have been done.
///
/// [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
pub(super) fn unlink_at(directory: BorrowedFile<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is a NUL-terminated string that outlives the call.
    check(unsafe { libc::unlinkat(directory.as_raw_fd(), path.as_ptr(), 0) })
}

/// `renameat`: gives what is at `from` the name `to`, both begun at `directory`, in place of what has it.
///
/// [renameat(2)](https://man7.org/linux/man-pages/man2/renameat.2.html)
pub(super) fn rename_at(directory: BorrowedFile<'_>, from: &CStr, to: &CStr) -> Result<(), Errno> {
    let directory = directory.as_raw_fd();
    // SAFETY: both names are NUL-terminated strings that outlive the call.
    check(unsafe { libc::renameat(directory, from.as_ptr(), directory, to.as_ptr()) })
}

/// `readlinkat`: what the symbolic link `path`, begun at `directory`, says. `EINVAL` if it is no link.
///
/// [readlinkat(2)](https://man7.org/linux/man-pages/man2/readlinkat.2.html)
pub(super) fn read_link_at(directory: BorrowedFile<'_>, path: &CStr) -> Result<CString, Errno> {
    let mut target = vec![0; LONGEST_LINK];
    // SAFETY: the path is a NUL-terminated string, the target is borrowed for writing and as long as is told; both
    // outlive the call.
    let length = unsafe {
        libc::readlinkat(
            directory.as_raw_fd(),
            path.as_ptr(),
            target.as_mut_ptr().cast(),
            target.len(),
        )
    };
    let length = usize::try_from(length).map_err(|_| last_error())?;
    if length == target.len() {
        // There may be more of it.
        return Err(Errno(libc::ENAMETOOLONG));
    }
    target.truncate(length);
    // No path that a system call took can hold a NUL.
    CString::new(target).map_err(|_| Errno(libc::EINVAL))
}

/// `fstat`: whether the open file is itself a symbolic link, which only `O_PATH` with `O_NOFOLLOW` opens.
///
/// [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
pub(super) fn is_link(file: BorrowedFile<'_>) -> Result<bool, Errno> {
    Ok(platform::file_type(file)? == libc::S_IFLNK)
}

fn check(result: libc::c_int) -> Result<(), Errno> {
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}
