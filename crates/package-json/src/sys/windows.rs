//! Windows.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::windows::fs::MetadataExt;
use std::path::Path;

use smallfry::Operation;

use super::rules::{Failure, MAX_SIZE, may_change_unseen, not_a_file, too_large};

/// The identity of a file's state. The time of creation stands for the number of the file, which
/// only an open file tells. Programs can set all of these times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    /// In 100 ns since 1601.
    modified: u64,
    created: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.file_size(),
            modified: metadata.last_write_time(),
            created: metadata.creation_time(),
        }
    }

    /// Returns true if the file was so new that it may have changed since and still have this
    /// stamp.
    pub(crate) fn is_racy(&self) -> bool {
        // From 1601 to 1970.
        const SECONDS: i64 = 11_644_473_600;
        let modified = i64::try_from(self.modified).unwrap_or(i64::MAX);
        let seconds = modified / 10_000_000 - SECONDS;
        may_change_unseen((seconds, (modified % 10_000_000) as u32 * 100))
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the stamp of a file, following symbolic links. `None`: there is nothing, or a directory.
///
/// [`GetFileInformationByHandle`](https://learn.microsoft.com/en-us/windows/win32/api/fileapi/nf-fileapi-getfileinformationbyhandle)
pub(crate) fn look(path: &Path) -> Result<Option<Stamp>, Failure> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err((Operation::Stat, error)),
    }
}

/// Reads a file into `bytes`, replacing their contents, and returns the stamp that it had before.
/// `None`: there is nothing, or a directory.
///
/// [`CreateFileW`](https://learn.microsoft.com/en-us/windows/win32/api/fileapi/nf-fileapi-createfilew),
/// [`ReadFile`](https://learn.microsoft.com/en-us/windows/win32/api/fileapi/nf-fileapi-readfile)
pub(crate) fn read(path: &Path, bytes: &mut Vec<u8>) -> Result<Option<Stamp>, Failure> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_nothing(&error) => return Ok(None),
        // The error for directories as well.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return match look(path) {
                Ok(None) => Ok(None),
                _ => Err((Operation::Open, error)),
            };
        }
        Err(error) => return Err((Operation::Open, error)),
    };
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| (Operation::Fstat, error))?;
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    let stamp = Stamp::of(&metadata);
    if stamp.size > MAX_SIZE {
        return Err(too_large());
    }
    bytes.clear();
    let read = file.by_ref().take(MAX_SIZE + 1).read_to_end(bytes);
    read.map_err(|error| (Operation::Read, error))?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(too_large());
    }
    Ok(Some(stamp))
}

/// Returns the directory above an absolute path without needless parts, and its name there. `None`:
/// the path is a root.
pub(crate) fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    path.parent().zip(path.file_name())
}
