//! Paths resolved beneath one directory and never outside it, whatever they say and whoever changes links meanwhile.
//!
//! For batches whose paths come from somebody else: an archive, a manifest, a plug-in. Checking a path first and opening
//! it afterwards does not do, since a directory may be exchanged for a symbolic link in between; so the directory is
//! opened once and the system, or a walk name by name, resolves from there.

pub(crate) mod names;

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::raw::OwnedFile;
use crate::sys::{self, Directory, LEADS_OUT, LEADS_OUT_WORDS};

/// Permissions of a new directory before the umask, as std has them.
const DIRECTORY_MODE: u32 = 0o777;

/// A directory beneath which paths are resolved. It holds one descriptor.
///
/// `..` and symbolic links work as long as they stay beneath. Absolute paths, also those in links, are refused as well
/// as paths that leave: [`io::ErrorKind::PermissionDenied`], with a message that says so. On Windows links are not
/// followed at all, and names that it gives a meaning of their own are refused with [`io::ErrorKind::InvalidInput`].
pub(crate) struct Root {
    directory: Directory,
    path: PathBuf,
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Root").field(&self.path).finish()
    }
}

impl Root {
    /// Opens the directory. Its own path is resolved as any other; should it be renamed later, this follows it.
    pub(crate) fn open_dir(path: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: Directory::open(path)?,
            path: path.to_owned(),
        })
    }

    /// Opens or creates a file beneath, with flags and mode as [`raw::open`](crate::raw::open) has them.
    pub(crate) fn open(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        check(path)?;
        let file = self.directory.open_file(path, flags, mode);
        file.map_err(|error| self.explain(error))
    }

    /// What the system says of what `path` leads to.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Metadata> {
        check(path)?;
        let metadata = self.directory.metadata(path);
        metadata.map_err(|error| self.explain(error))
    }

    /// Removes a file. Of a symbolic link the link itself goes.
    pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
        check(path)?;
        let done = self.directory.remove_file(path);
        done.map_err(|error| self.explain(error))
    }

    /// Makes one directory, with mode 0777 less the umask.
    pub(crate) fn create_dir(&self, path: &Path) -> io::Result<()> {
        check(path)?;
        let done = self.directory.make_directory(path, DIRECTORY_MODE);
        done.map_err(|error| self.explain(error))
    }

    /// Gives a file another name in the same directory.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        check(from)?;
        check(to)?;
        let name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let done = self.directory.rename(from, name);
        done.map_err(|error| self.explain(error))
    }

    /// What a symbolic link says; `None` if `path` is something else.
    pub(crate) fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        check(path)?;
        let link = self.directory.read_link(path);
        link.map_err(|error| self.explain(error))
    }

    fn explain(&self, error: io::Error) -> io::Error {
        if error.raw_os_error() == Some(LEADS_OUT.0) {
            return self.leads_out();
        }
        error
    }

    #[cold]
    fn leads_out(&self) -> io::Error {
        let reason = format!("the path {LEADS_OUT_WORDS} {}", self.path.display());
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    }
}

fn check(path: &Path) -> io::Result<()> {
    if sys::RESERVES_NAMES {
        names::check(path)?;
    }
    Ok(())
}

/// What two relative paths share that this system takes for one though they differ in case; `None` where it tells them
/// apart.
pub(crate) fn case_key(path: &Path) -> Option<Vec<u8>> {
    sys::FOLDS_CASE.then(|| names::case_key(path))
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
