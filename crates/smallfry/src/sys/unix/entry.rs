//! Unix: the status of an entry of a directory, and the permissions and times that its copy gets.

use rustix::fs::{self, FileType, Stat, Timespec, Timestamps};

#[cfg(feature = "hash")]
use super::Stamp;
use super::kind::Kind;
use super::platform::{BorrowedFile, errno, full_status, mode_from};
use crate::errno::Errno;

impl Kind {
    /// Returns the kind; `None` if the file system does not tell.
    pub(super) fn of(kind: FileType) -> Option<Self> {
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
    /// The times of access, modification and change.
    times: [(i64, i64); 3],
}

impl EntryStatus {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "not the same types everywhere"
    )]
    pub(super) fn new(status: &Stat) -> Self {
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
                (status.st_ctime as i64, status.st_ctime_nsec as i64),
            ],
        }
    }

    /// Tells whether the file has holes.
    pub(crate) fn is_sparse(&self) -> bool {
        self.blocks * 512 < self.size
    }

    /// Returns the permissions that a copy of this entry with the status `own` has. It may only run
    /// as its owner or group if they are those of this one.
    fn mode_for(&self, own: &Self) -> u32 {
        let mut mode = self.mode & 0o7777;
        if self.kind == Kind::File && own.owner != self.owner {
            mode &= !0o4000;
        }
        if self.kind == Kind::File && own.group != self.group {
            mode &= !0o2000;
        }
        mode
    }

    /// Returns true if the permissions are those that a copy of `source` has.
    pub(crate) fn has_mode_of(&self, source: &Self) -> bool {
        source.mode_for(self) == self.mode & 0o7777
    }

    /// Returns the same status with all permissions of the owner.
    pub(crate) fn open_to_owner(mut self) -> Self {
        self.mode |= 0o700;
        self
    }

    /// Returns the time of modification: seconds since 1970, and nanoseconds.
    pub(crate) fn modified(&self) -> (i64, i64) {
        self.times[1]
    }

    /// Returns the part that changes with the contents.
    #[cfg(feature = "hash")]
    #[allow(clippy::unnecessary_wraps, reason = "other systems have no such part")]
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let time = |(seconds, nanoseconds)| (seconds, u32::try_from(nanoseconds).unwrap_or(0));
        Some(Stamp {
            device: self.identity.device,
            inode: self.identity.inode,
            size: self.size,
            modified: time(self.times[1]),
            changed: time(self.times[2]),
        })
    }

    /// Returns the numbers of the owner and of the group.
    pub(crate) fn owner_and_group(&self) -> (u32, u32) {
        (self.owner, self.group)
    }

    pub(super) fn timestamps(&self) -> Timestamps {
        let [last_access, last_modification, _] =
            self.times.map(|(tv_sec, nanoseconds)| Timespec {
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

/// Gives an open file the permissions of another one, as [`EntryStatus::mode_for`] tells them.
///
/// `fstat` costs less than a `fchmod` that changes nothing, which ext4 puts into its journal.
///
/// `fchmod`, [fchmod(2)](https://man7.org/linux/man-pages/man2/fchmod.2.html)
pub(crate) fn set_mode_of(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    let own = entry_status(file)?;
    let mode = status.mode_for(&own);
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

/// Gives an open file the permissions and times of another one.
pub(crate) fn set_mode_and_times(
    file: BorrowedFile<'_>,
    status: &EntryStatus,
) -> Result<(), Errno> {
    set_mode_of(file, status)?;
    set_times(file, status)
}
