//! Unix: renaming a file.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::platform::{errno, with_c_path};
use crate::errno::Errno;

/// The error for a path through more symbolic links than the system follows.
pub(crate) const TOO_MANY_LINKS: Errno = Errno(libc::ELOOP);
/// The error for a name that does not exist.
pub(crate) const NOTHING_THERE: Errno = Errno(libc::ENOENT);

/// Renames `from` to `to`. An existing file at `to` is replaced.
///
/// `rename`, [rename(2)](https://man7.org/linux/man-pages/man2/rename.2.html)
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    with_c_path(from.as_os_str().as_bytes(), |from| {
        Ok(with_c_path(to.as_os_str().as_bytes(), |to| {
            rustix::fs::rename(from, to).map_err(errno)
        }))
    })?
}

/// Renames as [`rename`] does. Only a flush of the directory makes the new name durable.
pub(crate) fn rename_and_flush(from: &Path, to: &Path) -> io::Result<()> {
    rename(from, to)
}
