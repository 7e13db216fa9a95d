//! Unix: an open directory, and operations on paths beneath it that never leave it.
//!
//! Linux resolves a path by one call, `openat2`. The [`walk`] resolves it name by name on other
//! systems. On Linux it does so if the call is missing, if a container's filter refuses it, or if
//! it gives up because directories are being renamed.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::at::{mkdir_at, read_link_at, rename_at, unlink_at};
use super::platform::{AsFile, BorrowedFile, OwnedFile, open_path, with_c_path};
use super::variant::{self, O_PATH_ONLY};
use super::walk;
use crate::errno::Errno;

pub(crate) use super::walk::LEADS_OUT;

/// True if a file beneath can be renamed.
pub(crate) const RENAMES_BENEATH: bool = true;

/// The words of [`LEADS_OUT`] between a path and the name of the directory.
pub(crate) const LEADS_OUT_WORDS: &str = "leads out of";

/// The maximum number of calls of `openat2` while directories are being renamed.
const MAX_TRIES: usize = 8;

/// An open directory. It holds one descriptor.
pub(crate) struct Directory {
    file: OwnedFile,
    resolver: Resolver,
}

/// The part that resolves the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolver {
    Kernel,
    Walk,
}

impl Directory {
    /// Opens the directory. `path` itself is resolved as any other path, and links are followed.
    ///
    /// `open`, [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_path(path, O_PATH_ONLY | libc::O_DIRECTORY, 0)?;
        // One call finds out if the system has openat2 and lets it through.
        let flags = O_PATH_ONLY | libc::O_DIRECTORY;
        let resolver = match variant::open_beneath(file.as_fd(), c".", flags, 0) {
            Ok(_) => Resolver::Kernel,
            Err(error) if error.is_out_of_descriptors() => return Err(error.into()),
            Err(_) => Resolver::Walk,
        };
        Ok(Self { file, resolver })
    }

    /// Makes it walk, as on a system without `openat2`.
    #[cfg(test)]
    pub(crate) fn by_walk(mut self) -> Self {
        self.resolver = Resolver::Walk;
        self
    }

    /// Returns true if the kernel resolves paths here.
    #[cfg(test)]
    pub(crate) fn is_by_kernel(&self) -> bool {
        self.resolver == Resolver::Kernel
    }

    /// Opens `path` beneath this directory, with the flags and mode of `open`. The error is
    /// [`LEADS_OUT`] if the path leads out.
    ///
    /// `openat2` or the walk, [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html)
    pub(crate) fn open_file(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        with_c_path(path.as_os_str().as_bytes(), |path| {
            self.resolve(path, flags, mode)
        })
    }

    /// Returns the metadata of the file at `path`, which is opened only for that.
    ///
    /// `fstat`, [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        File::from(self.open_file(path, O_PATH_ONLY, 0)?).metadata()
    }

    /// Makes one directory. `EEXIST` if anything has that name.
    ///
    /// `mkdirat`, [mkdirat(2)](https://man7.org/linux/man-pages/man2/mkdirat.2.html)
    pub(crate) fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        let mut path = path.as_os_str().as_bytes();
        while let [rest @ .., b'/'] = path
            && !rest.is_empty()
        {
            path = rest;
        }
        self.in_parent(path, libc::EEXIST, |parent, name| {
            mkdir_at(parent, name, mode)
        })
    }

    /// Removes one file. Of a symbolic link it removes the link itself.
    ///
    /// `unlinkat`, [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
    pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.in_parent(path.as_os_str().as_bytes(), libc::EISDIR, unlink_at)
    }

    /// Renames a file within its directory.
    ///
    /// `renameat`, [renameat(2)](https://man7.org/linux/man-pages/man2/renameat.2.html)
    pub(crate) fn rename(&self, from: &Path, name: &OsStr) -> io::Result<()> {
        let name = CString::new(name.as_bytes())?;
        self.in_parent(from.as_os_str().as_bytes(), libc::EISDIR, |parent, from| {
            rename_at(parent, from, &name)
        })
    }

    /// Returns the target of a symbolic link; `None` if `path` is something else.
    ///
    /// `readlinkat`, [readlinkat(2)](https://man7.org/linux/man-pages/man2/readlinkat.2.html)
    pub(crate) fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let mut target = None;
        let path = path.as_os_str().as_bytes();
        let done = self.in_parent(path, libc::EISDIR, |parent, name| {
            target = Some(read_link_at(parent, name)?);
            Ok(())
        });
        match done {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(None),
            done => {
                done?;
                let bytes = target.map(CString::into_bytes);
                Ok(bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))))
            }
        }
    }

    /// Opens the directory that `path` ends in, and calls `work` with it and the last name.
    ///
    /// A last name that can only be a directory (`.`, `..` or nothing) is an error: the one that
    /// resolving the path gives, or else `directory`.
    fn in_parent(
        &self,
        path: &[u8],
        directory: i32,
        work: impl FnOnce(BorrowedFile<'_>, &CStr) -> Result<(), Errno>,
    ) -> io::Result<()> {
        let (parent, name) = match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (Some(&path[..=slash]), &path[slash + 1..]),
            None => (None, path),
        };
        if matches!(name, b"" | b"." | b"..") {
            with_c_path(path, |path| {
                self.resolve(path, O_PATH_ONLY | libc::O_DIRECTORY, 0)
            })?;
            return Err(Errno(directory).into());
        }
        let open = |parent: &CStr| self.resolve(parent, O_PATH_ONLY | libc::O_DIRECTORY, 0);
        let parent = parent.map(|parent| with_c_path(parent, open)).transpose()?;
        let parent = parent.as_ref().unwrap_or(&self.file).as_fd();
        with_c_path(name, |name| work(parent, name))
    }

    /// Opens `path`, by the kernel if possible, or else by the walk.
    fn resolve(&self, path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
        let directory = self.file.as_fd();
        if self.resolver == Resolver::Kernel {
            for _ in 0..MAX_TRIES {
                match variant::open_beneath(directory, path, flags, mode) {
                    // Directories were renamed meanwhile.
                    Err(Errno(libc::EAGAIN)) => {}
                    // A filter came into force since the directory was opened. Or the file itself
                    // refuses, and then the walk fails too.
                    Err(Errno(libc::ENOSYS | libc::EPERM)) => break,
                    done => return done,
                }
            }
        }
        walk::open(directory, path, flags, mode)
    }
}
