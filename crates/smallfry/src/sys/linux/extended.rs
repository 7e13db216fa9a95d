//! Linux: extended attributes, access control lists among them.

use std::ffi::{CStr, CString};
use std::fs::Metadata;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{io, ptr};

use super::BorrowedFile;
use crate::errno::Errno;
use crate::sys::platform::{last_error, with_c_path};

/// What these say holds for the contents that were there: a hash of them, or a privilege that the system itself takes away
/// from a file that is written.
const OF_CONTENTS: [&CStr; 3] = [c"security.capability", c"security.ima", c"security.evm"];

/// A new file may have one from its directory.
const ACL: &CStr = c"system.posix_acl_access";

/// What a directory gives new files for one.
const GIVEN: &CStr = c"system.posix_acl_default";

/// `fgetxattr`: whether new files in an open directory have an access control list from the start; yes where that cannot be told.
///
/// [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html)
pub(in crate::sys) fn gives_list(directory: BorrowedFile<'_>) -> bool {
    let found = Subject::Open(directory).get(GIVEN);
    !matches!(found, Err(Errno(libc::ENODATA | libc::EOPNOTSUPP)))
}

/// `statx` with `AT_STATX_FORCE_SYNC`: owner, group and mode of the file at a path. Where it is on a disk they are as they were
/// `found`; a server is asked, since what this machine remembers of it may be a minute old, as it would be by opening the file.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
pub(in crate::sys) fn fresh_status(
    path: &Path,
    found: &Metadata,
) -> Result<(u32, u32, u32), Errno> {
    if libc::major(found.dev()) != 0 {
        return Ok((found.uid(), found.gid(), found.mode()));
    }
    let mut status = MaybeUninit::<libc::statx>::uninit();
    with_c_path(path.as_os_str().as_bytes(), |path| {
        // SAFETY: the path is NUL-terminated, and the structure is large enough and borrowed for writing.
        match unsafe {
            libc::statx(
                libc::AT_FDCWD,
                path.as_ptr(),
                libc::AT_SYMLINK_NOFOLLOW | libc::AT_STATX_FORCE_SYNC,
                libc::STATX_MODE | libc::STATX_UID | libc::STATX_GID,
                status.as_mut_ptr(),
            )
        } {
            0 => Ok(()),
            _ => Err(last_error()),
        }
    })
    .map_err(|error| errno_of(&error))?;
    // SAFETY: the call succeeded, so it has filled the structure.
    let status = unsafe { status.assume_init() };
    Ok((status.stx_uid, status.stx_gid, status.stx_mode.into()))
}

fn errno_of(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EINVAL))
}

/// Those of a file, with their values.
#[derive(Debug)]
pub(in crate::sys) struct Extended(Vec<(CString, Vec<u8>)>);

/// A file, as the calls name it.
#[derive(Clone, Copy)]
enum Subject<'file> {
    Open(BorrowedFile<'file>),
    /// Itself, if it is a link.
    Path(&'file CStr),
}

impl Extended {
    /// `flistxattr`, `fgetxattr`: those of an open file.
    ///
    /// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    pub(in crate::sys) fn of(file: BorrowedFile<'_>) -> Result<Self, Errno> {
        Self::read(Subject::Open(file))
    }

    /// `llistxattr`, `lgetxattr`: those of the file at a path.
    ///
    /// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
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
                    // Gone meanwhile.
                    Err(Errno(libc::ENODATA)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Self(found))
    }

    /// Whether there is one among them that says who may open the file: an access control list of any kind.
    pub(in crate::sys) fn has_list(&self) -> bool {
        self.0
            .iter()
            .any(|(name, _)| name.to_bytes().starts_with(b"system."))
    }

    /// `fsetxattr`, `fremovexattr`: gives them to `temporary file`.
    ///
    /// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    pub(in crate::sys) fn give(
        &self,
        temporary: BorrowedFile<'_>,
        may_have_list: bool,
    ) -> Result<(), Errno> {
        let subject = Subject::Open(temporary);
        for (name, value) in &self.0 {
            if subject.get(name).as_ref() != Ok(value) {
                set(temporary, name, value)?;
            }
        }
        let has_acl = self.0.iter().any(|(name, _)| name.as_c_str() == ACL);
        let may_have_other = may_have_list && !has_acl;
        if may_have_other && subject.list()?.iter().any(|name| name.as_c_str() == ACL) {
            // SAFETY: the name is a NUL-terminated string that outlives the call.
            if unsafe { libc::fremovexattr(temporary.as_raw_fd(), ACL.as_ptr()) } != 0 {
                return Err(last_error());
            }
        }
        Ok(())
    }
}

impl Subject<'_> {
    fn list(self) -> Result<Vec<CString>, Errno> {
        let found = fill(|buffer, length| match self {
            // SAFETY: the system writes at most `length` bytes to the buffer, which is that long or not there at all.
            Self::Open(file) => unsafe {
                libc::flistxattr(file.as_raw_fd(), buffer.cast(), length)
            },
            // SAFETY: as above; the path is NUL-terminated and outlives the call.
            Self::Path(path) => unsafe { libc::llistxattr(path.as_ptr(), buffer.cast(), length) },
        });
        match found {
            Ok(list) => Ok(list
                .split_inclusive(|&byte| byte == 0)
                .filter_map(|name| CStr::from_bytes_with_nul(name).ok())
                .map(CStr::to_owned)
                .collect()),
            // A file system without attributes has none to keep.
            Err(Errno(libc::EOPNOTSUPP)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn get(self, name: &CStr) -> Result<Vec<u8>, Errno> {
        fill(|buffer, length| match self {
            // SAFETY: the name is NUL-terminated; the system writes at most `length` bytes to the buffer, which is that long or
            // not there at all.
            Self::Open(file) => unsafe {
                libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), buffer.cast(), length)
            },
            // SAFETY: as above, and the path is NUL-terminated.
            Self::Path(path) => unsafe {
                libc::lgetxattr(path.as_ptr(), name.as_ptr(), buffer.cast(), length)
            },
        })
    }
}

fn set(file: BorrowedFile<'_>, name: &CStr, value: &[u8]) -> Result<(), Errno> {
    // SAFETY: the name is NUL-terminated, and the value has the length that is told; both outlive the call, which only reads
    // them.
    let result = unsafe {
        libc::fsetxattr(
            file.as_raw_fd(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

/// Asks for something whose length is not known, once more when it has become longer.
fn fill(call: impl Fn(*mut u8, usize) -> libc::ssize_t) -> Result<Vec<u8>, Errno> {
    // Few files have more than a label and an access control list.
    let mut buffer = [0_u8; 256];
    match usize::try_from(call(buffer.as_mut_ptr(), buffer.len())) {
        Ok(length) => return Ok(buffer[..length].to_vec()),
        Err(_) => match last_error() {
            Errno(libc::ERANGE) => {}
            error => return Err(error),
        },
    }
    loop {
        let length = usize::try_from(call(ptr::null_mut(), 0)).map_err(|_| last_error())?;
        // Not 0, which would ask for the length again.
        let mut buffer = vec![0; length.max(1)];
        match usize::try_from(call(buffer.as_mut_ptr(), buffer.len())) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(_) => match last_error() {
                Errno(libc::ERANGE) => {}
                error => return Err(error),
            },
        }
    }
}
