//! Unix: what a file has besides its contents, given to the one that is to take its place.

use std::fs::Metadata;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::platform::{BorrowedFile, full_status, last_error, variant};
use crate::errno::Errno;
use crate::error::Operation;

use variant::extended::Extended;

/// Permissions of a new file that only its owner may open.
const PRIVATE: u32 = 0o600;
/// To run as the owner or the group.
const PRIVILEGES: u32 = 0o6000;

/// Owner, group, permissions, access control list and extended attributes of a file.
#[derive(Debug)]
pub(crate) struct Attributes {
    owner: u32,
    group: u32,
    mode: u32,
    extended: Extended,
}

impl Attributes {
    /// Of an open file.
    pub(crate) fn of(file: BorrowedFile<'_>) -> Result<Self, (Operation, Errno)> {
        let status = full_status(file).map_err(|error| (Operation::Fstat, error))?;
        let extended = Extended::of(file).map_err(|error| (Operation::Fsetxattr, error))?;
        Ok(Self {
            owner: status.st_uid,
            group: status.st_gid,
            mode: permissions(status.st_mode),
            extended,
        })
    }

    /// Of a file that need not be opened for it; `None` on systems where it must. `found` is what its path was found to be.
    pub(crate) fn at(path: &Path, found: &Metadata) -> Option<Result<Self, (Operation, Errno)>> {
        let extended = Extended::at(path)?;
        let read = || {
            let extended = extended.map_err(|error| (Operation::Fsetxattr, error))?;
            let fresh = variant::extended::fresh_status(path, found);
            let (owner, group, mode) = fresh.map_err(|error| (Operation::Stat, error))?;
            Ok(Self {
                owner,
                group,
                mode: mode & 0o7777,
                extended,
            })
        };
        Some(read())
    }

    /// What to make the temporary file with, that nobody may open it who may not open the file: the permissions themselves where they
    /// do not depend on who the group is, which saves a call.
    pub(crate) fn temporary_mode(&self) -> u32 {
        let mode = self.mode & 0o777;
        let is_for_any_group = mode >> 3 & 0o7 == mode & 0o7 && !self.extended.has_list();
        if is_for_any_group && mode & PRIVATE == PRIVATE {
            mode
        } else {
            PRIVATE
        }
    }

    /// `fchown`, `fsetxattr`, `fchmod`: gives them to `temporary file`, which is new and empty, and asks for nothing that it has already.
    /// What its directory gave it, if it `may_have_list`, it loses.
    ///
    /// Owner before attributes and permissions: changing it takes away what would be a privilege in the hands of the new owner.
    ///
    /// [fchown(2)](https://man7.org/linux/man-pages/man2/fchown.2.html),
    /// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html),
    /// [fchmod(2)](https://man7.org/linux/man-pages/man2/fchmod.2.html)
    pub(crate) fn give(
        &self,
        temporary: BorrowedFile<'_>,
        may_have_list: bool,
    ) -> Result<(), (Operation, Errno)> {
        let has = full_status(temporary).map_err(|error| (Operation::Fstat, error))?;
        let is_owner_changed = (has.st_uid, has.st_gid) != (self.owner, self.group);
        if is_owner_changed {
            // SAFETY: a plain system call on a descriptor that is open as long as it is borrowed.
            check(unsafe { libc::fchown(temporary.as_raw_fd(), self.owner, self.group) })
                .map_err(|error| (Operation::Fchown, error))?;
        }
        let extended = self.extended.give(temporary, may_have_list);
        extended.map_err(|error| (Operation::Fsetxattr, error))?;
        // A temporary file that a crash leaves half written must not run as somebody else.
        let mode = self.mode & !PRIVILEGES;
        if is_owner_changed || permissions(has.st_mode) != mode {
            set_mode(temporary, mode)?;
        }
        Ok(())
    }

    /// `fchmod`: what [`give`](Self::give) has left out, and what writing would have taken away: to run as the owner or the group.
    pub(crate) fn give_privileges(
        &self,
        temporary: BorrowedFile<'_>,
    ) -> Result<(), (Operation, Errno)> {
        if self.mode & PRIVILEGES == 0 {
            return Ok(());
        }
        set_mode(temporary, self.mode)
    }
}

fn set_mode(temporary: BorrowedFile<'_>, mode: u32) -> Result<(), (Operation, Errno)> {
    // SAFETY: a plain system call on a descriptor that is open as long as it is borrowed.
    check(unsafe { libc::fchmod(temporary.as_raw_fd(), mode as libc::mode_t) })
        .map_err(|error| (Operation::Fchmod, error))
}

/// Whether new files in an open directory may have an access control list from the start.
pub(crate) fn gives_list(directory: BorrowedFile<'_>) -> bool {
    variant::extended::gives_list(directory)
}

/// Without the kind of file. Wider than some systems have it.
#[allow(clippy::useless_conversion, reason = "not the same type everywhere")]
fn permissions(mode: libc::mode_t) -> u32 {
    u32::from(mode) & 0o7777
}

fn check(result: libc::c_int) -> Result<(), Errno> {
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::sys;

    #[test]
    fn a_temporary_file_is_private_where_it_matters_who_the_group_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, temporary) in [
            (0o644, 0o644),
            (0o755, 0o755),
            (0o4755, 0o755),
            (0o600, 0o600),
            (0o640, 0o600),
            (0o604, 0o600),
            (0o444, 0o600),
            (0o000, 0o600),
        ] {
            file.as_file()
                .set_permissions(Permissions::from_mode(mode))
                .unwrap();
            let attributes = Attributes::of(sys::borrow(file.as_file())).unwrap();
            let expected = if attributes.extended.has_list() {
                PRIVATE
            } else {
                temporary
            };
            assert_eq!(attributes.temporary_mode(), expected, "{mode:o}");
        }
    }

    #[test]
    fn an_open_file_and_its_path_tell_the_same() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = std::fs::metadata(file.path()).unwrap();
        let of = Attributes::of(sys::borrow(&File::open(file.path()).unwrap())).unwrap();
        if let Some(at) = Attributes::at(file.path(), &found) {
            assert_eq!(format!("{of:?}"), format!("{:?}", at.unwrap()));
        }
    }
}
