//! macOS, and the BSDs: extended attributes and access control lists.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use crate::errno::Errno;
use crate::sys::platform::{BorrowedFile, OwnedFile};
use crate::sys::{AttributeKinds, PathStatus};

/// Returns the status of what is at a path. A link is not followed.
///
/// `lstat`, [lstat(2)](https://man.freebsd.org/cgi/man.cgi?query=lstat&sektion=2)
pub(in crate::sys) fn path_status(path: &Path) -> io::Result<PathStatus> {
    std::fs::symlink_metadata(path).map(Into::into)
}

/// Returns true: each file is asked.
pub(in crate::sys) fn gives_list(_directory: BorrowedFile<'_>) -> bool {
    true
}

/// The attributes of a file, which stays open.
#[derive(Debug)]
pub(in crate::sys) struct Extended {
    #[cfg_attr(
        not(target_vendor = "apple"),
        allow(dead_code, reason = "attributes are not kept there")
    )]
    file: OwnedFile,
}

impl Extended {
    /// Holds the file, for its attributes to be copied.
    pub(in crate::sys) fn of(file: BorrowedFile<'_>) -> Result<Self, Errno> {
        let file = file.try_clone_to_owned();
        let file = file.map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EBADF)))?;
        Ok(Self { file })
    }

    /// Returns `None`: attributes are copied from an open file.
    pub(in crate::sys) fn at(_path: &Path) -> Option<Result<Self, Errno>> {
        None
    }

    /// Returns true: one of them may be an access control list.
    #[allow(clippy::unused_self, reason = "other systems tell")]
    pub(in crate::sys) fn has_list(&self) -> bool {
        true
    }

    /// Gives the attributes to the temporary file.
    #[cfg(target_vendor = "apple")]
    pub(in crate::sys) fn give(&self, temporary: BorrowedFile<'_>, _: bool) -> Result<(), Errno> {
        use std::os::fd::AsFd;

        let all = AttributeKinds {
            access_lists: true,
            others: true,
        };
        copy(self.file.as_fd(), temporary, all)
    }

    /// Does nothing: attributes are not kept on the BSDs.
    #[cfg(not(target_vendor = "apple"))]
    pub(in crate::sys) fn give(&self, _temporary: BorrowedFile<'_>, _: bool) -> Result<(), Errno> {
        Ok(())
    }
}

/// Gives an open file or directory, which is a copy, the attributes of its source.
///
/// `fcopyfile` with `COPYFILE_XATTR` and `COPYFILE_ACL`,
/// [copyfile(3)](https://www.manpagez.com/man/3/fcopyfile/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn copy(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    kinds: AttributeKinds,
) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;

    use crate::sys::platform::last_error;

    let mut what = 0;
    if kinds.access_lists {
        what |= libc::COPYFILE_ACL;
    }
    if kinds.others {
        what |= libc::COPYFILE_XATTR;
    }
    let (from, to) = (from.as_raw_fd(), to.as_raw_fd());
    // SAFETY: both descriptors are open as long as they are borrowed, and the state is optional.
    match unsafe { libc::fcopyfile(from, to, std::ptr::null_mut(), what) } {
        0 => Ok(()),
        _ => match last_error() {
            // A file system without attributes has nothing to keep.
            Errno(libc::ENOTSUP) => Ok(()),
            error => Err(error),
        },
    }
}

/// Refuses: attributes are not kept on the BSDs.
#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn copy(
    _from: BorrowedFile<'_>,
    _to: BorrowedFile<'_>,
    _kinds: AttributeKinds,
) -> Result<(), Errno> {
    Err(Errno(libc::ENOTSUP))
}

/// Does nothing: attributes of symbolic links are not kept.
#[allow(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
pub(in crate::sys) fn copy_at(
    _from: (BorrowedFile<'_>, &CStr),
    _to: (BorrowedFile<'_>, &CStr),
    _kinds: AttributeKinds,
) -> Result<(), Errno> {
    Ok(())
}
