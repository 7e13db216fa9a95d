//! Resolves paths beneath one directory and never outside it, even while another program changes
//! links.
//!
//! Batches use it for paths from outside: those of an archive, a manifest or a plug-in. To check a
//! path first and open it afterwards is not safe, since a directory may be replaced with a symbolic
//! link in between. So the directory is opened once, and the system or a walk name by name resolves
//! from there.

pub(crate) mod names;

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::raw::OwnedFile;
use crate::sys::{self, Directory, LEADS_OUT, LEADS_OUT_WORDS};

/// The permissions of a new directory before the umask, as in std.
const DIRECTORY_MODE: u32 = 0o777;

/// A directory beneath which paths are resolved. It holds one descriptor.
///
/// `..` and symbolic links work as long as they stay beneath. Paths that leave and absolute paths,
/// also those in links, are refused with [`io::ErrorKind::PermissionDenied`] and a message that
/// says so. On Windows no link is followed, and names that Windows gives a meaning of their own are
/// refused with [`io::ErrorKind::InvalidInput`].
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
    /// Opens the directory. Its own path is resolved as any other path. A later rename does not
    /// matter.
    pub(crate) fn open_dir(path: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: Directory::open(path)?,
            path: path.to_owned(),
        })
    }

    /// Opens or creates a file, with the flags and mode of [`raw::open`](crate::raw::open).
    pub(crate) fn open(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        check(path)?;
        let file = self.directory.open_file(path, flags, mode);
        file.map_err(|error| self.explain(error))
    }

    /// Returns the metadata of the file that `path` leads to.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Metadata> {
        check(path)?;
        let metadata = self.directory.metadata(path);
        metadata.map_err(|error| self.explain(error))
    }

    /// Removes a file. Of a symbolic link it removes the link itself.
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

    /// Renames a file within its directory.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        check(from)?;
        check(to)?;
        let name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let done = self.directory.rename(from, name);
        done.map_err(|error| self.explain(error))
    }

    /// Returns the target of a symbolic link; `None` if `path` is something else.
    pub(crate) fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        check(path)?;
        let link = self.directory.read_link(path);
        link.map_err(|error| self.explain(error))
    }

    /// Replaces the error of a path that leads out with one that says so.
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

/// Refuses a path with a name that this system takes for another.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    if sys::RESERVES_NAMES {
        names::check(path)?;
    }
    Ok(())
}

/// Returns a key that is the same for two relative paths if they differ in case only and this
/// system takes them for one; `None` if it tells them apart.
pub(crate) fn case_key(path: &Path) -> Option<Vec<u8>> {
    sys::FOLDS_CASE.then(|| names::case_key(path))
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
