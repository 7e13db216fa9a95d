//! macOS, and the BSDs: paths are resolved name by name, and `fstat` asks about a file.

use std::ffi::CStr;
use std::path::PathBuf;

#[path = "macos/extended.rs"]
pub(in crate::sys) mod extended;
#[path = "macos/flush.rs"]
pub(in crate::sys) mod flush;

use rustix::fs::{Dir, FileType};

#[cfg(target_vendor = "apple")]
use super::entry::EntryStatus;
use super::platform::{BorrowedFile, OwnedFile, errno};
use crate::errno::Errno;

/// True on macOS, where disks fold case unless they are formatted not to. Those of the BSDs never
/// do.
pub(crate) const FOLDS_CASE: bool = cfg!(target_vendor = "apple");

/// The flags that open a file only to start paths from it, or to ask about it. Not all of these
/// systems have a flag for that, so the file is opened for reading, without waiting, and must be
/// readable.
pub(in crate::sys) const O_PATH_ONLY: i32 = libc::O_RDONLY | libc::O_NONBLOCK;

/// Returns `ENOSYS`: no call in all versions of these systems resolves a whole path beneath a
/// directory.
pub(in crate::sys) fn open_beneath(
    _directory: BorrowedFile<'_>,
    _path: &CStr,
    _flags: i32,
    _mode: u32,
) -> Result<OwnedFile, Errno> {
    Err(Errno(libc::ENOSYS))
}

/// Returns false: here only file systems are mounted, and these differ in their number.
pub(in crate::sys) fn is_mount_point(_directory: BorrowedFile<'_>) -> bool {
    false
}

/// Returns a number for the file system that an open file is on.
///
/// `fstat`,
/// [fstat(2)](https://www.manpagez.com/man/2/fstat/)
pub(in crate::sys) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    let status = super::platform::full_status(file).ok()?;
    u64::try_from(status.st_dev).ok()
}

/// Returns [`device_of`] a regular file.
pub(in crate::sys) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    let status = super::platform::full_status(file).ok()?;
    let kind = FileType::from_raw_mode(status.st_mode);
    let device = u64::try_from(status.st_dev).ok();
    device.filter(|_| kind == FileType::RegularFile)
}

/// Returns true: these systems do not tell disks of this machine, which report nothing, from
/// others.
pub(in crate::sys) fn reports_at_close(_file: BorrowedFile<'_>) -> bool {
    true
}

/// Calls `each` with the name and the kind of each entry of an open directory, `.` and `..` among
/// them.
///
/// `readdir`, [directory(3)](https://www.manpagez.com/man/3/readdir/)
pub(in crate::sys) fn list(
    directory: BorrowedFile<'_>,
    mut each: impl FnMut(&CStr, FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for entry in Dir::read_from(directory).map_err(errno)? {
        let entry = entry.map_err(errno)?;
        each(entry.file_name(), entry.file_type())?;
    }
    Ok(())
}

/// Makes a file that shares the blocks of another one, on APFS. It has the permissions of that one,
/// its attributes and its access control list, and the time of now. `None` if the owner may not read
/// it, since it could not be opened.
///
/// `fclonefileat`, [clonefile(2)](https://www.manpagez.com/man/2/fclonefileat/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn create_clone(
    directory: BorrowedFile<'_>,
    name: &CStr,
    source: BorrowedFile<'_>,
    status: &EntryStatus,
) -> Result<Option<OwnedFile>, Errno> {
    use rustix::fs::{
        AtFlags, CloneFlags, Timespec, Timestamps, UTIME_NOW, fclonefileat, futimens, unlinkat,
    };

    if status.mode & 0o400 == 0 {
        return Ok(None);
    }
    let flags = CloneFlags::NOFOLLOW | CloneFlags::NOOWNERCOPY;
    fclonefileat(source, directory, name, flags).map_err(errno)?;
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let now = Timestamps {
        last_access: now,
        last_modification: now,
    };
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = super::at::open_at(directory, name, flags, 0);
    let clone = opened.and_then(|clone| {
        futimens(&clone, &now).map_err(errno)?;
        Ok(Some(clone))
    });
    if clone.is_err() {
        // The file is made in another way, or this error is reported.
        _ = unlinkat(directory, name, AtFlags::empty());
    }
    clone
}

/// Returns `ENOTSUP`: the call of these systems makes the file that it clones into.
pub(in crate::sys) fn clone_file(
    _from: BorrowedFile<'_>,
    _to: BorrowedFile<'_>,
) -> Result<(), Errno> {
    Err(Errno(libc::ENOTSUP))
}

/// Returns `ENOTSUP`: these systems have no such call.
pub(in crate::sys) fn copy_range(
    _from: BorrowedFile<'_>,
    _to: BorrowedFile<'_>,
    _length: u64,
) -> Result<u64, Errno> {
    Err(Errno(libc::ENOTSUP))
}

/// Returns the path of an open file.
///
/// `fcntl(F_GETPATH)`,
/// [fcntl(2)](https://www.manpagez.com/man/2/fcntl/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let path = rustix::fs::getpath(file).ok()?;
    Some(OsString::from_vec(path.into_bytes()).into())
}

/// Returns `None`: the BSDs do not tell.
#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn path_of(_file: BorrowedFile<'_>) -> Option<PathBuf> {
    None
}
