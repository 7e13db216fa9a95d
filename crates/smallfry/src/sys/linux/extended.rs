//! Linux: extended attributes, access control lists among them.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, StatxFlags, XattrFlags};

use crate::errno::Errno;
use crate::sys::platform::{BorrowedFile, errno, with_c_path};
use crate::sys::{AttributeKinds, PathStatus};

/// The attributes that hold for the old contents only: a hash of them, or a privilege that the
/// system itself takes away from a file that is written.
const OF_CONTENTS: [&CStr; 3] = [c"security.capability", c"security.ima", c"security.evm"];

/// The access control list of a file. A new file may have one from its directory.
const ACL: &CStr = c"system.posix_acl_access";

/// The access control list that a directory gives to new files.
const DEFAULT_ACL: &CStr = c"system.posix_acl_default";

/// The maximum size of an attribute, and of the list of all names, in bytes.
///
/// [xattr(7), limits](https://man7.org/linux/man-pages/man7/xattr.7.html)
const MAX_SIZE: usize = 1 << 16;

/// Returns true if new files in an open directory have an access control list from the start, or if
/// that is not known.
///
/// `fgetxattr`, [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html)
pub(in crate::sys) fn gives_list(directory: BorrowedFile<'_>) -> bool {
    let found = Subject::Open(directory).get(DEFAULT_ACL);
    !matches!(found, Err(Errno(libc::ENODATA | libc::EOPNOTSUPP)))
}

/// Returns the status of what is at a path. A link is not followed.
///
/// A server is asked, as it would be by opening the file: the copy on this machine may be a minute
/// old.
///
/// `statx` with `AT_STATX_FORCE_SYNC`,
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
pub(in crate::sys) fn path_status(path: &Path) -> io::Result<PathStatus> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | super::FORCE_SYNC;
    let mask = StatxFlags::TYPE | StatxFlags::MODE | StatxFlags::UID | StatxFlags::GID;
    let found = with_c_path(path.as_os_str().as_bytes(), |path| {
        fs::statx(CWD, path, flags, mask).map_err(errno)
    });
    match found {
        Ok(status) => Ok(PathStatus {
            mode: status.stx_mode.into(),
            owner: status.stx_uid,
            group: status.stx_gid,
        }),
        // Before Linux 4.11, or in an old container.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            std::fs::symlink_metadata(path).map(Into::into)
        }
        Err(error) => Err(error),
    }
}

fn errno_of(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EINVAL))
}

/// The attributes of a file, with their values.
#[derive(Debug)]
pub(in crate::sys) struct Extended(Vec<(CString, Vec<u8>)>);

/// A file, as the system calls name it.
#[derive(Clone, Copy)]
enum Subject<'file> {
    Open(BorrowedFile<'file>),
    /// A path. A symbolic link at its end is not followed.
    Path(&'file CStr),
}

impl Extended {
    /// Reads the attributes of an open file.
    ///
    /// `flistxattr`, `fgetxattr`, [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    pub(in crate::sys) fn of(file: BorrowedFile<'_>) -> Result<Self, Errno> {
        Self::read(Subject::Open(file))
    }

    /// Reads the attributes of the file at a path.
    ///
    /// `llistxattr`, `lgetxattr`, [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    #[allow(
        clippy::unnecessary_wraps,
        reason = "other systems do not tell by path"
    )]
    pub(in crate::sys) fn at(path: &Path) -> Option<Result<Self, Errno>> {
        let found = with_c_path(path.as_os_str().as_bytes(), |path| {
            Self::read(Subject::Path(path))
        });
        Some(found.map_err(|error| errno_of(&error)))
    }

    fn read(subject: Subject<'_>) -> Result<Self, Errno> {
        let mut found = Vec::new();
        for name in subject.list()? {
            if !OF_CONTENTS.contains(&name.as_c_str()) {
                match subject.get(&name) {
                    Ok(value) => found.push((name, value)),
                    // Another program has removed it meanwhile.
                    Err(Errno(libc::ENODATA)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Self(found))
    }

    /// Returns true if one of them is an access control list of any kind.
    pub(in crate::sys) fn has_list(&self) -> bool {
        self.0
            .iter()
            .any(|(name, _)| name.to_bytes().starts_with(b"system."))
    }

    /// Gives the attributes to the temporary file.
    ///
    /// `fsetxattr`, `fremovexattr`, [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    pub(in crate::sys) fn give(
        &self,
        temporary: BorrowedFile<'_>,
        may_have_list: bool,
    ) -> Result<(), Errno> {
        let subject = Subject::Open(temporary);
        for (name, value) in &self.0 {
            if subject.get(name).as_ref() != Ok(value) {
                subject.set(name, value)?;
            }
        }
        let has_acl = self.0.iter().any(|(name, _)| name.as_c_str() == ACL);
        let may_have_other = may_have_list && !has_acl;
        if may_have_other && subject.list()?.iter().any(|name| name.as_c_str() == ACL) {
            subject.remove(ACL)?;
        }
        Ok(())
    }
}

/// Gives an open file or directory, which is a copy, the attributes of its source.
///
/// `flistxattr`, `fgetxattr`, `fsetxattr`,
/// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
pub(in crate::sys) fn copy(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    kinds: AttributeKinds,
) -> Result<(), Errno> {
    copy_between(Subject::Open(from), Subject::Open(to), kinds)
}

/// Does the same for the entries of two open directories. A symbolic link at a name is not
/// followed.
///
/// No call takes a directory and a name before Linux 6.13, so the paths begin with that of an open
/// file.
///
/// `llistxattr`, `lgetxattr`, `lsetxattr` under `/proc/self/fd`,
/// [proc_pid_fd(5)](https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html)
pub(in crate::sys) fn copy_at(
    (from, name): (BorrowedFile<'_>, &CStr),
    (to, new_name): (BorrowedFile<'_>, &CStr),
    kinds: AttributeKinds,
) -> Result<(), Errno> {
    let from = path_at(from, name)?;
    let to = path_at(to, new_name)?;
    match copy_between(Subject::Path(&from), Subject::Path(&to), kinds) {
        // Without /proc, as in a chroot.
        Err(Errno(libc::ENOENT)) => Ok(()),
        copied => copied,
    }
}

fn path_at(directory: BorrowedFile<'_>, name: &CStr) -> Result<CString, Errno> {
    let directory = format!("/proc/self/fd/{}/", directory.as_raw_fd());
    let path = [directory.as_bytes(), name.to_bytes()].concat();
    CString::new(path).map_err(|_| Errno(libc::EINVAL))
}

/// Returns true for an access control list. Those of other kinds than POSIX's, which have names
/// below `system.`, too, mean nothing elsewhere.
fn is_list(name: &CStr) -> bool {
    name == ACL || name == DEFAULT_ACL
}

/// Returns true for the error of an attribute that the file system of a copy does not have or has
/// no room for, or that the user may not set.
fn is_left_out(Errno(errno): Errno) -> bool {
    matches!(
        errno,
        libc::EOPNOTSUPP
            | libc::EPERM
            | libc::EACCES
            | libc::ENOSPC
            | libc::EDQUOT
            | libc::E2BIG
            | libc::ERANGE
    )
}

fn copy_between(from: Subject<'_>, to: Subject<'_>, kinds: AttributeKinds) -> Result<(), Errno> {
    let mut names = from.list()?;
    names.retain(|name| {
        if name.to_bytes().starts_with(b"system.") {
            kinds.access_lists && is_list(name)
        } else {
            kinds.others
        }
    });
    for name in &names {
        let value = match from.get(name) {
            // Another program has removed it meanwhile.
            Err(Errno(libc::ENODATA)) => continue,
            value => value?,
        };
        match to.set(name, &value) {
            // As with `cp -a`. Without its list, a file would be open to more users.
            Err(errno) if !is_list(name) && is_left_out(errno) => {}
            set => set?,
        }
    }
    if kinds.access_lists {
        // The directory may have given lists to the copy.
        for given in to.list()? {
            if is_list(&given) && !names.contains(&given) {
                to.remove(&given)?;
            }
        }
    }
    Ok(())
}

impl Subject<'_> {
    fn set(self, name: &CStr, value: &[u8]) -> Result<(), Errno> {
        let flags = XattrFlags::empty();
        match self {
            Self::Open(file) => fs::fsetxattr(file, name, value, flags),
            Self::Path(path) => fs::lsetxattr(path, name, value, flags),
        }
        .map_err(errno)
    }

    fn remove(self, name: &CStr) -> Result<(), Errno> {
        match self {
            Self::Open(file) => fs::fremovexattr(file, name),
            Self::Path(path) => fs::lremovexattr(path, name),
        }
        .map_err(errno)
    }

    fn list(self) -> Result<Vec<CString>, Errno> {
        let found = fill(|buffer| match self {
            Self::Open(file) => fs::flistxattr(file, buffer),
            Self::Path(path) => fs::llistxattr(path, buffer),
        });
        match found {
            Ok(list) => Ok(list
                .split_inclusive(|&byte| byte == 0)
                .filter_map(|name| CStr::from_bytes_with_nul(name).ok())
                .map(CStr::to_owned)
                .collect()),
            // A file system without attributes has nothing to keep.
            Err(Errno(libc::EOPNOTSUPP)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn get(self, name: &CStr) -> Result<Vec<u8>, Errno> {
        fill(|buffer| match self {
            Self::Open(file) => fs::fgetxattr(file, name, buffer),
            Self::Path(path) => fs::lgetxattr(path, name, buffer),
        })
    }
}

/// Returns the bytes that `call` writes to a buffer. Their number is not known before.
fn fill(call: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> Result<Vec<u8>, Errno> {
    // Few files have more than a label and an access control list.
    let mut buffer = [0; 256];
    match call(&mut buffer) {
        Err(rustix::io::Errno::RANGE) => {
            let mut buffer = vec![0; MAX_SIZE];
            let length = call(&mut buffer).map_err(errno)?;
            Ok(buffer[..length].to_vec())
        }
        done => Ok(buffer[..done.map_err(errno)?].to_vec()),
    }
}
