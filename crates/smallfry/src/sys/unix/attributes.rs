//! Unix: the attributes of a file besides its contents, for the file that replaces it.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FileType, Gid, RawMode, Uid, fchmod, fchown};

use super::platform::{BorrowedFile, errno, full_status, mode_from};
use super::variant::{self, extended::Extended};
use crate::errno::Errno;
use crate::error::Operation;

/// The permissions of a new file that only its owner may open.
const PRIVATE: u32 = 0o600;
/// The permissions to run as the owner or the group.
const PRIVILEGES: u32 = 0o6000;

/// The kind, permissions, owner and group of what is at a path.
#[derive(Debug)]
pub(crate) struct PathStatus {
    /// The permissions, and the kind of file in the upper bits.
    pub(super) mode: u32,
    pub(super) owner: u32,
    pub(super) group: u32,
}

impl PathStatus {
    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode as RawMode)
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub(crate) fn is_symlink(&self) -> bool {
        self.kind() == FileType::Symlink
    }
}

impl From<Metadata> for PathStatus {
    fn from(found: Metadata) -> Self {
        Self {
            mode: found.mode(),
            owner: found.uid(),
            group: found.gid(),
        }
    }
}

/// Returns the status of what is at a path, as a server tells it now. A link is not followed.
pub(crate) fn path_status(path: &Path) -> io::Result<PathStatus> {
    variant::extended::path_status(path)
}

/// The owner, group, permissions, access control list and extended attributes of a file.
#[derive(Debug)]
pub(crate) struct Attributes {
    owner: u32,
    group: u32,
    mode: u32,
    extended: Extended,
}

impl Attributes {
    /// Reads the attributes of an open file.
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

    /// Reads the attributes of the file at `path`, without opening it; `None` where it must be
    /// opened. `found` is its status.
    pub(crate) fn at(path: &Path, found: &PathStatus) -> Option<Result<Self, (Operation, Errno)>> {
        let of = |extended| Self {
            owner: found.owner,
            group: found.group,
            mode: found.mode & 0o7777,
            extended,
        };
        let failed = |error| (Operation::Fsetxattr, error);
        Some(Extended::at(path)?.map(of).map_err(failed))
    }

    /// Returns the mode to create the temporary file with. It lets in no user that the file keeps
    /// out.
    ///
    /// It is the file's own mode if that does not depend on the group, which saves a call.
    pub(crate) fn temporary_mode(&self) -> u32 {
        let mode = self.mode & 0o777;
        let is_for_any_group = mode >> 3 & 0o7 == mode & 0o7 && !self.extended.has_list();
        if is_for_any_group && mode & PRIVATE == PRIVATE {
            mode
        } else {
            PRIVATE
        }
    }

    /// Gives the attributes to the temporary file, which is new and empty, except for those that it
    /// has already. If it `may_have_list`, it loses the access control list that its directory gave
    /// it.
    ///
    /// The owner comes before attributes and permissions, because changing the owner takes
    /// privileges away.
    ///
    /// `fchown`, `fsetxattr`, `fchmod`,
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
            let (owner, group) = (Uid::from_raw(self.owner), Gid::from_raw(self.group));
            fchown(temporary, Some(owner), Some(group))
                .map_err(|error| (Operation::Fchown, errno(error)))?;
        }
        let extended = self.extended.give(temporary, may_have_list);
        extended.map_err(|error| (Operation::Fsetxattr, error))?;
        // A temporary file that a crash leaves half written must not run as its owner or group.
        let mode = self.mode & !PRIVILEGES;
        if is_owner_changed || permissions(has.st_mode) != mode {
            set_mode(temporary, mode)?;
        }
        Ok(())
    }

    /// Gives the permissions to run as the owner or the group. [`give`](Self::give) leaves them
    /// out, and writing would take them away.
    ///
    /// `fchmod`, [fchmod(2)](https://man7.org/linux/man-pages/man2/fchmod.2.html)
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
    fchmod(temporary, mode_from(mode)).map_err(|error| (Operation::Fchmod, errno(error)))
}

/// Returns true if new files in an open directory may have an access control list from the start.
pub(crate) fn gives_list(directory: BorrowedFile<'_>) -> bool {
    variant::extended::gives_list(directory)
}

/// Returns the mode without the kind of file.
#[allow(clippy::useless_conversion, reason = "not the same type everywhere")]
fn permissions(mode: RawMode) -> u32 {
    u32::from(mode) & 0o7777
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::sys;

    #[test]
    fn temporary_mode_is_private_if_the_mode_depends_on_the_group() {
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
    fn of_and_at_find_the_same_attributes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = path_status(file.path()).unwrap();
        let of = Attributes::of(sys::borrow(&File::open(file.path()).unwrap())).unwrap();
        if let Some(at) = Attributes::at(file.path(), &found) {
            assert_eq!(format!("{of:?}"), format!("{:?}", at.unwrap()));
        }
    }
}
