//! Unix: an open directory of a tree, and calls for single names in it, which follow no link.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Stat, Timespec, Timestamps};

use super::at::{mkdir_at, open_at, read_link_at, rename_at, unlink_at};
use super::platform::{AsFile, BorrowedFile, OwnedFile, errno, full_status, mode_from, open_path};
use super::variant;
use crate::errno::Errno;

/// The name of an entry, as system calls take it.
pub(crate) type Name = CStr;
/// A [`Name`] of its own.
pub(crate) type OwnedName = CString;

/// The kind of an entry, as its directory tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    Link,
    /// A pipe, socket or device.
    Special,
}

impl Kind {
    fn of(kind: FileType) -> Option<Self> {
        Some(match kind {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
            FileType::Unknown => return None,
            _ => Self::Special,
        })
    }
}

/// The device and inode of a directory or file, which all its names share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// An open directory. It holds one descriptor.
pub(crate) struct OpenDirectory(pub(super) OwnedFile);

/// The status of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryStatus {
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
    /// The permissions, and the kind of file in the upper bits.
    pub(crate) mode: u32,
    owner: u32,
    group: u32,
    /// The number of hard links.
    pub(crate) names: u64,
    /// The length in bytes.
    pub(crate) size: u64,
    /// The number of blocks of 512 bytes that are not holes.
    blocks: u64,
    times: [(i64, i64); 2],
}

impl EntryStatus {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "not the same types everywhere"
    )]
    fn new(status: &Stat) -> Self {
        let kind = Kind::of(FileType::from_raw_mode(status.st_mode));
        Self {
            kind: kind.unwrap_or(Kind::Special),
            identity: Identity {
                device: status.st_dev as u64,
                inode: status.st_ino as u64,
            },
            mode: status.st_mode.into(),
            owner: status.st_uid,
            group: status.st_gid,
            names: status.st_nlink.into(),
            size: u64::try_from(status.st_size).unwrap_or(0),
            blocks: u64::try_from(status.st_blocks).unwrap_or(0),
            times: [
                (status.st_atime as i64, status.st_atime_nsec as i64),
                (status.st_mtime as i64, status.st_mtime_nsec as i64),
            ],
        }
    }

    /// Tells whether the file has holes.
    pub(crate) fn is_sparse(&self) -> bool {
        self.blocks * 512 < self.size
    }

    /// Returns the time of modification: seconds since 1970, and nanoseconds.
    #[cfg(feature = "archive")]
    pub(crate) fn modified(&self) -> (i64, i64) {
        self.times[1]
    }

    /// Returns the numbers of the owner and of the group.
    #[cfg(feature = "archive")]
    pub(crate) fn owner_and_group(&self) -> (u32, u32) {
        (self.owner, self.group)
    }

    fn timestamps(&self) -> Timestamps {
        let [last_access, last_modification] = self.times.map(|(tv_sec, nanoseconds)| Timespec {
            tv_sec,
            tv_nsec: nanoseconds as _,
        });
        Timestamps {
            last_access,
            last_modification,
        }
    }
}

/// Returns the status of an open file.
pub(crate) fn entry_status(file: BorrowedFile<'_>) -> Result<EntryStatus, Errno> {
    Ok(EntryStatus::new(&full_status(file)?))
}

/// Gives an open file the permissions of another one. It may only run as its owner or group if they
/// are those of the other one.
///
/// `fstat` costs less than a `fchmod` that changes nothing, which ext4 puts into its journal.
///
/// `fchmod`, [fchmod(2)](https://man7.org/linux/man-pages/man2/fchmod.2.html)
pub(crate) fn set_mode_of(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    let own = entry_status(file)?;
    let mut mode = status.mode & 0o7777;
    if status.kind == Kind::File && own.owner != status.owner {
        mode &= !0o4000;
    }
    if status.kind == Kind::File && own.group != status.group {
        mode &= !0o2000;
    }
    if own.mode & 0o7777 == mode {
        return Ok(());
    }
    fs::fchmod(file, mode_from(mode)).map_err(errno)
}

/// Sets the times of an open file to those of another one.
///
/// `futimens`, [futimens(3)](https://man7.org/linux/man-pages/man3/futimens.3.html)
pub(crate) fn set_times(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    fs::futimens(file, &status.timestamps()).map_err(errno)
}

/// Returns the name as a part of a path.
pub(crate) fn as_path(name: &Name) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

/// Makes a name; `None` for one with a NUL.
pub(crate) fn name_of(name: &OsStr) -> Option<OwnedName> {
    CString::new(name.as_bytes()).ok()
}

/// Returns the last name of a path; `None` if it ends in `.` or `..`, or is a root.
pub(crate) fn last_name(path: &Path) -> Option<OwnedName> {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'/')? + 1;
    match bytes[..end].rsplit(|&byte| byte == b'/').next()? {
        b"." | b".." => None,
        name => name_of(OsStr::from_bytes(name)),
    }
}

/// Returns the directory that the last name of a path is in, empty for the current one; the path
/// itself if it has no last name.
pub(crate) fn start_of(path: &Path) -> PathBuf {
    if last_name(path).is_none() {
        return path.to_owned();
    }
    match path.parent() {
        Some(parent) => parent.to_owned(),
        None => PathBuf::new(),
    }
}

/// Returns true for a path that can only be that of a directory, since a slash is at its end.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// Returns what the root directory is.
pub(crate) fn root_identity() -> Option<Identity> {
    let root = OpenDirectory::open(Path::new("/")).ok()?;
    Some(root.status().ok()?.identity)
}

/// Returns true for the error of a name that is not there.
pub(crate) fn is_missing(error: Errno) -> bool {
    error.0 == libc::ENOENT
}

/// Returns true for the error of a name that is there already.
pub(crate) fn is_taken(error: Errno) -> bool {
    error.0 == libc::EEXIST
}

/// Returns true for an error that may mean that a name is not that of a directory.
pub(crate) fn may_mean_no_directory(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOTDIR | libc::ELOOP | libc::EMLINK)
    )
}

impl OpenDirectory {
    /// Opens the directory at `path`. Links are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        open_path(path, flags, 0).map(Self)
    }

    /// Opens a directory in this one. A link is an error: `ENOTDIR` or `ELOOP`.
    pub(crate) fn open_directory(&self, name: &Name) -> Result<Self, Errno> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        open_at(self.0.as_fd(), name, flags, 0).map(Self)
    }

    /// Opens the directory that this one is in now.
    pub(crate) fn open_parent(&self) -> Result<Self, Errno> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        open_at(self.0.as_fd(), c"..", flags, 0).map(Self)
    }

    /// `fstat`, [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
    pub(crate) fn status(&self) -> Result<EntryStatus, Errno> {
        entry_status(self.0.as_fd())
    }

    /// Returns the status of an entry.
    ///
    /// `fstatat`, [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
    pub(crate) fn status_of(&self, name: &Name) -> Result<EntryStatus, Errno> {
        let status = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).map_err(errno)?;
        Ok(EntryStatus::new(&status))
    }

    /// Returns the kind of an entry.
    pub(crate) fn kind_of(&self, name: &Name) -> Result<Kind, Errno> {
        Ok(self.status_of(name)?.kind)
    }

    /// Opens a file to be read. It does not wait, if the file has become a pipe meanwhile.
    pub(crate) fn open_file(&self, name: &Name) -> Result<OwnedFile, Errno> {
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        open_at(self.0.as_fd(), name, flags, 0)
    }

    /// Creates a file to be written. `EEXIST` if there is anything of that name.
    pub(crate) fn create_file(&self, name: &Name, mode: u32) -> Result<OwnedFile, Errno> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        open_at(self.0.as_fd(), name, flags, mode)
    }

    /// Makes a directory. `EEXIST` if there is anything of that name.
    pub(crate) fn make_directory(&self, name: &Name, mode: u32) -> Result<(), Errno> {
        mkdir_at(self.0.as_fd(), name, mode)
    }

    /// Returns the target of a symbolic link.
    pub(crate) fn read_link(&self, name: &Name) -> Result<CString, Errno> {
        read_link_at(self.0.as_fd(), name)
    }

    /// Makes a symbolic link. `EEXIST` if there is anything of that name.
    ///
    /// `symlinkat`, [symlinkat(2)](https://man7.org/linux/man-pages/man2/symlink.2.html)
    pub(crate) fn make_link(&self, name: &Name, target: &CStr) -> Result<(), Errno> {
        fs::symlinkat(target, &self.0, name).map_err(errno)
    }

    /// Makes another name of a file. `EEXIST` if there is anything of that name.
    ///
    /// `linkat`, [linkat(2)](https://man7.org/linux/man-pages/man2/link.2.html)
    pub(crate) fn make_hard_link(
        &self,
        name: &Name,
        to: &Self,
        new_name: &Name,
    ) -> Result<(), Errno> {
        fs::linkat(&self.0, name, &to.0, new_name, AtFlags::empty()).map_err(errno)
    }

    /// Renames an entry, and replaces another one that is no directory.
    pub(crate) fn rename(&self, from: &Name, to: &Name) -> Result<(), Errno> {
        rename_at(self.0.as_fd(), from, to)
    }

    /// Gives this directory the permissions of another one.
    pub(crate) fn set_mode_of(&self, status: &EntryStatus) -> Result<(), Errno> {
        set_mode_of(self.0.as_fd(), status)
    }

    /// Sets the times of this directory to those of another one.
    pub(crate) fn set_times(&self, status: &EntryStatus) -> Result<(), Errno> {
        set_times(self.0.as_fd(), status)
    }

    /// Calls `each` with the name and the kind of each entry. An entry that vanishes meanwhile may
    /// be left out.
    pub(crate) fn list(&self, mut each: impl FnMut(&Name, Kind)) -> Result<(), Errno> {
        variant::list(self.0.as_fd(), |name, kind| {
            if matches!(name.to_bytes(), b"." | b"..") {
                return Ok(());
            }
            // Some file systems do not tell kinds.
            let kind = match Kind::of(kind) {
                Some(kind) => kind,
                None => match self.kind_of(name) {
                    Err(Errno(libc::ENOENT)) => return Ok(()),
                    kind => kind?,
                },
            };
            each(name, kind);
            Ok(())
        })
    }

    /// Removes a file or link.
    pub(crate) fn remove_file(&self, name: &Name) -> Result<(), Errno> {
        unlink_at(self.0.as_fd(), name)
    }

    /// Removes an empty directory.
    ///
    /// `unlinkat` with `AT_REMOVEDIR`,
    /// [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
    pub(crate) fn remove_directory(&self, name: &Name) -> Result<(), Errno> {
        fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR).map_err(errno)
    }
}
