//! Linux, macOS and other Unix systems.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open};
use rustix::io::{Errno, read as read_some, retry_on_intr};
use smallfry::Operation;

use super::rules::{Failure, MAX_SIZE, may_change_unseen, not_a_file, too_large};

/// The identity of a file's state. The inode changes when another file takes its place, the other
/// values when it is written to. No program can set the time of the last change (ctime).
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

    /// Returns true if the file was so new that it may have changed since and still have this
    /// stamp.
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

/// Returns the stamp of a file, following symbolic links. `None`: there is nothing, or a directory.
///
/// [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
pub(crate) fn look(path: &Path) -> Result<Option<Stamp>, Failure> {
    match rustix::fs::stat(path) {
        Ok(stat) => Ok(found(&stat)),
        Err(error) if is_nothing(error) => Ok(None),
        Err(error) => Err((Operation::Stat, error.into())),
    }
}

/// Reads a file into `bytes`, replacing their contents, and returns the stamp that it had before.
/// `None`: there is nothing, or a directory. A pipe without a writer does not block the open.
///
/// [open(2)](https://man7.org/linux/man-pages/man2/open.2.html),
/// [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
pub(crate) fn read(path: &Path, bytes: &mut Vec<u8>) -> Result<Option<Stamp>, Failure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match retry_on_intr(|| open(path, flags, Mode::empty())) {
        Ok(file) => file,
        Err(error) if is_nothing(error) => return Ok(None),
        // It is a socket.
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
    // The size is 0 where the system does not report it, as in /proc.
    bytes.reserve(size.max(512));
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        let count = retry_on_intr(|| read_some(&file, spare_capacity(bytes)));
        let count = count.map_err(|error| (Operation::Read, io::Error::from(error)))?;
        // The end, or the reported size. Bytes that were appended since have changed the stamp.
        if count == 0 || bytes.len() == size {
            return Ok(Some(stamp));
        }
        if bytes.len() as u64 > MAX_SIZE {
            return Err(too_large());
        }
    }
}

/// Returns the directory above an absolute path without needless parts, and its name there. `None`:
/// the path is the root. std's own functions look for needless parts, which takes several times as
/// long.
pub(crate) fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|byte| *byte == b'/')?;
    let name = &bytes[end + 1..];
    let above = &bytes[..end.max(1)];
    (!name.is_empty()).then(|| (Path::new(OsStr::from_bytes(above)), OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_agrees_with_the_functions_of_std() {
        for path in ["/", "/a", "/a/b", "/a/node_modules", "/\u{fc}/.x/..."] {
            let path = Path::new(path);
            assert_eq!(split(path), path.parent().zip(path.file_name()));
        }
    }
}
