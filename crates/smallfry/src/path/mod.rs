//! The resolution of paths: where relative ones start, beneath which directory they must stay, and
//! which directories above them are missing.

mod base;
mod beneath;
mod descriptors;
pub(crate) mod parents;
#[cfg(feature = "store")]
mod url;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::closer::Closer;
use crate::errno::is_out_of_descriptors;
use crate::raw::OwnedFile;
use crate::sys;

pub(crate) use base::{Base, Found};
#[cfg(feature = "archive")]
pub(crate) use beneath::{case_key as case_key_of, check as check_names};
pub(crate) use descriptors::Backoff;
pub use descriptors::max_workers;
#[cfg(feature = "store")]
pub(crate) use url::is_url;

/// Opens a file as the process resolves its path. If no descriptor is left, pending closes are done
/// first.
#[inline]
pub(crate) fn open(path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
    let open = || sys::open_path(path, flags, mode);
    match open() {
        Err(error) if is_out_of_descriptors(&error) => Closer::global().with_room(open),
        opened => opened,
    }
}

/// The paths of a batch, each with memory of its own.
pub(crate) struct OwnedPaths<I>(pub(crate) I);

impl<I: Iterator<Item: AsRef<Path>>> Iterator for OwnedPaths<I> {
    type Item = PathBuf;

    #[inline]
    fn next(&mut self) -> Option<PathBuf> {
        Some(self.0.next()?.as_ref().to_owned())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// Returns a key that is the same for all spellings of a path that differ by `.` or repeated
/// separators only.
pub fn key_of(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    without_dot(path).hash(&mut hasher);
    hasher.finish()
}

/// Returns the path without a leading `.`, the only one that the standard library compares.
pub(crate) fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// Returns the directory that a path is in; empty for the current one.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_is_the_same_for_all_spellings_of_one_path() {
        for spelling in ["./a/b", "././a/b", ".//a/b", "a/./b", "a//b", "a/b/"] {
            let (spelling, path) = (Path::new(spelling), Path::new("a/b"));
            assert_eq!(key_of(spelling), key_of(path), "{}", spelling.display());
        }
        for other in ["../a/b", ".a/b", "a", "b", "a/../a/b", "./a/.b", ""] {
            assert_ne!(
                key_of(Path::new(other)),
                key_of(Path::new("a/b")),
                "{other}"
            );
        }
    }
}
