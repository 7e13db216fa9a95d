//! Unix: another name for a file.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::platform::{last_error, with_c_path};
use crate::errno::Errno;

/// What the system says of more links than it follows, and of a name that is not there.
pub(crate) const TOO_MANY_LINKS: Errno = Errno(libc::ELOOP);
pub(crate) const NOTHING_THERE: Errno = Errno(libc::ENOENT);

/// `rename`: gives what is at `from` the name `to`, in place of what has it.
///
/// [rename(2)](https://man7.org/linux/man-pages/man2/rename.2.html)
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    with_c_path(from.as_os_str().as_bytes(), |from| {
        Ok(with_c_path(to.as_os_str().as_bytes(), |to| {
            // SAFETY: both are NUL-terminated and live until the call returns.
            match unsafe { libc::rename(from.as_ptr(), to.as_ptr()) } {
                0 => Ok(()),
                _ => Err(last_error()),
            }
        }))
    })?
}

/// [`rename`]. That the name lasts takes a flush of the directory.
pub(crate) fn rename_and_flush(from: &Path, to: &Path) -> io::Result<()> {
    rename(from, to)
}
