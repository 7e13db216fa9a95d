//! Unix: what a file has besides its contents, given to the one that is to take its place.

use std::os::fd::AsRawFd;

use super::platform::{BorrowedFile, full_status, last_error, variant};
use crate::error::Operation;
use crate::raw::Errno;

/// `fchown`, `fsetxattr`, `fchmod`: gives `draft` the owner, group, access control list, extended attributes and permissions
/// of `old`, and asks for nothing that it has already.
///
/// Owner before attributes and permissions: changing it takes away what would be a privilege in the hands of the new owner.
///
/// [fchown(2)](https://man7.org/linux/man-pages/man2/fchown.2.html),
/// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html),
/// [fchmod(2)](https://man7.org/linux/man-pages/man2/fchmod.2.html)
pub(crate) fn keep_attributes(
    old: BorrowedFile<'_>,
    draft: BorrowedFile<'_>,
) -> Result<(), (Operation, Errno)> {
    let status = |file| full_status(file).map_err(|error| (Operation::Fstat, error));
    let (has, wants) = (status(draft)?, status(old)?);
    let is_owner_changed = (has.st_uid, has.st_gid) != (wants.st_uid, wants.st_gid);
    if is_owner_changed {
        // SAFETY: a plain system call on a descriptor that is open as long as it is borrowed.
        check(unsafe { libc::fchown(draft.as_raw_fd(), wants.st_uid, wants.st_gid) })
            .map_err(|error| (Operation::Fchown, error))?;
    }
    variant::keep_extended(old, draft).map_err(|error| (Operation::Fsetxattr, error))?;
    let mode = wants.st_mode & 0o7777;
    if is_owner_changed || has.st_mode & 0o7777 != mode {
        // SAFETY: as above.
        check(unsafe { libc::fchmod(draft.as_raw_fd(), mode) })
            .map_err(|error| (Operation::Fchmod, error))?;
    }
    Ok(())
}

fn check(result: libc::c_int) -> Result<(), Errno> {
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}
