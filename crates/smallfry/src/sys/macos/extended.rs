//! macOS, and the BSDs: extended attributes and access control lists.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::BorrowedFile;
use crate::errno::Errno;
use crate::sys::OwnedFile;

/// Owner, group and mode of the file at a path, as they were found.
pub(in crate::sys) fn fresh_status(
    _path: &Path,
    found: &Metadata,
) -> Result<(u32, u32, u32), Errno> {
    Ok((found.uid(), found.gid(), found.mode()))
}

/// Asked of each file.
pub(in crate::sys) fn gives_list(_directory: BorrowedFile<'_>) -> bool {
    true
}

/// Those of a file that stays open.
#[derive(Debug)]
pub(in crate::sys) struct Extended {
    #[cfg_attr(
        not(target_vendor = "apple"),
        allow(dead_code, reason = "they are not kept there")
    )]
    file: OwnedFile,
}

impl Extended {
    pub(in crate::sys) fn of(file: BorrowedFile<'_>) -> Result<Self, Errno> {
        let file = file.try_clone_to_owned();
        let file = file.map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EBADF)))?;
        Ok(Self { file })
    }

    /// They are copied from an open file.
    pub(in crate::sys) fn at(_path: &Path) -> Option<Result<Self, Errno>> {
        None
    }

    /// Whether there may be an access control list among them.
    #[allow(clippy::unused_self, reason = "other systems tell")]
    pub(in crate::sys) fn has_list(&self) -> bool {
        true
    }

    /// `fcopyfile` with `COPYFILE_XATTR | COPYFILE_ACL`: gives them to `temporary file`.
    ///
    /// [copyfile(3)](https://www.manpagez.com/man/3/fcopyfile/)
    #[cfg(target_vendor = "apple")]
    pub(in crate::sys) fn give(&self, temporary: BorrowedFile<'_>, _: bool) -> Result<(), Errno> {
        use std::os::fd::AsRawFd;

        use crate::sys::platform::last_error;

        let what = libc::COPYFILE_XATTR | libc::COPYFILE_ACL;
        // SAFETY: both descriptors are open as long as they are borrowed, and no state need be given.
        match unsafe {
            libc::fcopyfile(
                self.file.as_raw_fd(),
                temporary.as_raw_fd(),
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
    pub(in crate::sys) fn give(
        &self,
        _temporary_file: BorrowedFile<'_>,
        _: bool,
    ) -> Result<(), Errno> {
        Ok(())
    }
}
