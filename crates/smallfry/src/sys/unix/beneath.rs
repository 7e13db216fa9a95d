//! Unix: an open directory, and what can be done to paths beneath it that never leads out of it.
//!
//! Linux resolves a path by one call, `openat2`. Where that is missing, or refused by a container's filter, or gives up
//! because directories are being renamed, and on other systems, [`walk`] does it name by name.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::at::{mkdir_at, read_link_at, rename_at, unlink_at};
use super::platform::variant::{self, O_PLACE};
use super::platform::{AsFile, BorrowedFile, OwnedFile, open_path, with_c_path};
use super::walk;
use crate::errno::Errno;

pub(crate) use super::walk::LEADS_OUT;

/// Whether a file beneath can be given another name.
pub(crate) const RENAMES_BENEATH: bool = true;

/// What [`LEADS_OUT`] says of a path, before the name of the directory.
pub(crate) const LEADS_OUT_WORDS: &str = "leads out of";

/// How often `openat2` is asked again when it says that directories were renamed meanwhile.
const MAX_TRIES: usize = 8;

/// An open directory, the only descriptor that is kept.
pub(crate) struct Directory {
    file: OwnedFile,
    resolver: Resolver,
}

/// Who resolves the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolver {
    Kernel,
    Walk,
}

impl Directory {
    /// `open`: `path` itself is resolved as any other, links and all.
    ///
    /// [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_path(path, O_PLACE | libc::O_DIRECTORY, 0)?;
        // One call finds out whether the system has openat2 and lets it through.
        let flags = O_PLACE | libc::O_DIRECTORY;
        let resolver = match variant::open_beneath(file.as_fd(), c".", flags, 0) {
            Ok(_) => Resolver::Kernel,
            Err(error) if error.is_out_of_descriptors() => return Err(error.into()),
            Err(_) => Resolver::Walk,
        };
        Ok(Self { file, resolver })
    }

    /// As if the system had no `openat2`.
    #[cfg(test)]
    pub(crate) fn by_walk(mut self) -> Self {
        self.resolver = Resolver::Walk;
        self
    }

    /// Whether the kernel resolves paths here.
    #[cfg(test)]
    pub(crate) fn is_by_kernel(&self) -> bool {
        self.resolver == Resolver::Kernel
    }

    /// `openat2`, or the walk: opens `path` beneath this directory, with flags and mode as `open` has them.
    /// [`LEADS_OUT`] if the path does.
    ///
    /// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html)
    pub(crate) fn open_file(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        with_c_path(path.as_os_str().as_bytes(), |path| {
            self.resolve(path, flags, mode)
        })
    }

    /// `fstat` of what `path` leads to, opened only to be looked at.
    ///
    /// [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        File::from(self.open_file(path, O_PLACE, 0)?).metadata()
    }

    /// `mkdirat`: makes one directory. `EEXIST` if there is anything of that name.
    ///
    /// [mkdirat(2)](https://man7.org/linux/man-pages/man2/mkdirat.2.html)
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

    /// `unlinkat`: removes one file; a symbolic link goes itself.
    ///
    /// [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
    pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.in_parent(path.as_os_str().as_bytes(), libc::EISDIR, unlink_at)
    }

    /// `renameat`: gives a file another name, which must be in the same directory.
    ///
    /// [renameat(2)](https://man7.org/linux/man-pages/man2/renameat.2.html)
    pub(crate) fn rename(&self, from: &Path, name: &OsStr) -> io::Result<()> {
        let name = CString::new(name.as_bytes())?;
        self.in_parent(from.as_os_str().as_bytes(), libc::EISDIR, |parent, from| {
            rename_at(parent, from, &name)
        })
    }

    /// `readlinkat`: what a symbolic link says; `None` if `path` is something else.
    ///
    /// [readlinkat(2)](https://man7.org/linux/man-pages/man2/readlinkat.2.html)
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
    /// A last name that can only be a directory (`.`, `..` or nothing) is not worked on: the error is what resolving
    /// it says, or else `directory`.
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
                self.resolve(path, O_PLACE | libc::O_DIRECTORY, 0)
            })?;
            return Err(Errno(directory).into());
        }
        let open = |parent: &CStr| self.resolve(parent, O_PLACE | libc::O_DIRECTORY, 0);
        let parent = parent.map(|parent| with_c_path(parent, open)).transpose()?;
        let parent = parent.as_ref().unwrap_or(&self.file).as_fd();
        with_c_path(name, |name| work(parent, name))
    }

    fn resolve(&self, path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
        let directory = self.file.as_fd();
        if self.resolver == Resolver::Kernel {
            for _ in 0..MAX_TRIES {
                match variant::open_beneath(directory, path, flags, mode) {
                    // Renamed meanwhile: ask again.
                    Err(Errno(libc::EAGAIN)) => {}
                    // A filter that came into force since the directory was opened; or the file's own reason, which
                    // the walk meets too.
                    Err(Errno(libc::ENOSYS | libc::EPERM)) => break,
                    done => return done,
                }
            }
        }
        walk::open(directory, path, flags, mode)
    }
}
