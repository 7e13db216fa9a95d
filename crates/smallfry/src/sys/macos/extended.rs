//! macOS, and the BSDs: extended attributes and access control lists.

use super::BorrowedFile;
use crate::raw::Errno;

/// `fcopyfile` with `COPYFILE_XATTR | COPYFILE_ACL`: gives `draft` the attributes and the access control list of `old`.
///
/// [copyfile(3)](https://www.manpagez.com/man/3/fcopyfile/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn keep_extended(
    old: BorrowedFile<'_>,
    draft: BorrowedFile<'_>,
) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;

    use crate::sys::platform::last_error;

    let what = libc::COPYFILE_XATTR | libc::COPYFILE_ACL;
    // SAFETY: both descriptors are open as long as they are borrowed, and no state need be given.
    match unsafe {
        libc::fcopyfile(
            old.as_raw_fd(),
            draft.as_raw_fd(),
            std::ptr::null_mut(),
            what,
        )
    } {
        0 => Ok(()),
        _ => match last_error() {
            // A file system without them has none to keep.
            Errno(libc::ENOTSUP) => Ok(()),
            error => Err(error),
        },
    }
}

/// Not kept on the BSDs.
#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn keep_extended(
    _old: BorrowedFile<'_>,
    _draft: BorrowedFile<'_>,
) -> Result<(), Errno> {
    Ok(())
}
