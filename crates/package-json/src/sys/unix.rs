//! Linux, macOS and other Unix systems.

use std::io;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open};
use rustix::io::{Errno, read as read_some, retry_on_intr};
use smallfry::Operation;

use super::rules::{Failure, MAX_SIZE, may_change_unseen, not_a_file, too_large};

/// What changes when a file does: its inode when another takes its place, the others when it is written to. No program can
/// set the time of the last change (ctime).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    /// In seconds and nanoseconds since 1970.
    modified: (i64, u32),
    changed: (i64, u32),
}

impl Stamp {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "these types differ among systems"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        }
    }

    /// Whether the file was so new that it may have changed since without a difference to this.
    pub(crate) fn is_racy(&self) -> bool {
        may_change_unseen(self.changed)
    }
}

fn found(stat: &Stat) -> Option<Stamp> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => None,
        _ => Some(Stamp::of(stat)),
    }
}

fn is_nothing(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR)
}

/// What is there, a symbolic link followed.
///
/// [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
pub(crate) fn look(path: &Path) -> Result<Option<Stamp>, Failure> {
    match rustix::fs::stat(path) {
        Ok(stat) => Ok(found(&stat)),
        Err(error) if is_nothing(error) => Ok(None),
        Err(error) => Err((Operation::Stat, error.into())),
    }
}

/// Puts the contents of a file into `bytes`, whose own are given up, and says at what stamp it began. It is opened so that a
/// pipe without a writer does not hold it up.
///
/// [open(2)](https://man7.org/linux/man-pages/man2/open.2.html), [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
pub(crate) fn read(path: &Path, bytes: &mut Vec<u8>) -> Result<Option<Stamp>, Failure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match retry_on_intr(|| open(path, flags, Mode::empty())) {
        Ok(file) => file,
        Err(error) if is_nothing(error) => return Ok(None),
        // A socket.
        Err(Errno::NXIO) => return Err(not_a_file()),
        Err(error) => return Err((Operation::Open, error.into())),
    };
    let stat = fstat(&file).map_err(|error| (Operation::Fstat, io::Error::from(error)))?;
    let Some(stamp) = found(&stat) else {
        return Ok(None);
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_a_file());
    }
    if stamp.size > MAX_SIZE {
        return Err(too_large());
    }
    bytes.clear();
    // Checked above to fit.
    let size = stamp.size as usize;
    // Where the size is not told, as in /proc, it is 0.
    bytes.reserve(size.max(512));
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        let count = retry_on_intr(|| read_some(&file, spare_capacity(bytes)));
        let count = count.map_err(|error| (Operation::Read, io::Error::from(error)))?;
        // The end, or as much as there was: what has been added since has changed the stamp.
        if count == 0 || bytes.len() == size {
            return Ok(Some(stamp));
        }
        if bytes.len() as u64 > MAX_SIZE {
            return Err(too_large());
        }
    }
}
