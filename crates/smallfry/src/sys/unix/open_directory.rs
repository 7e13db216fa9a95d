//! Unix: an open directory of a tree, and calls for single names in it, which follow no link.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{self, AtFlags};

use super::at::{mkdir_at, open_at, read_link_at, rename_at, unlink_at};
use super::entry::{EntryStatus, Identity};
use super::entry::{entry_status, set_mode_and_times, set_mode_of, set_times};
use super::flush::{WholeFileSystem, flush_directory};
use super::kind::Kind;
use super::names::Name;
use super::platform::{BorrowedFile, OwnedFile, errno, open_path};
use super::variant;
use crate::errno::Errno;

/// An open directory. It holds one descriptor.
pub(crate) struct OpenDirectory(pub(super) OwnedFile);

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

    /// Returns its file system, if that can be flushed whole.
    pub(crate) fn whole_file_system(&self) -> Option<WholeFileSystem> {
        WholeFileSystem::of(self.0.as_fd())
    }

    /// Flushes the names in it.
    ///
    /// `fsync`, [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
    pub(crate) fn flush(&self) -> io::Result<()> {
        flush_directory(&self.0)
    }

    /// Returns true if something is mounted here, as far as the system tells. A directory of the
    /// same file system, which is mounted here, has the same device.
    pub(crate) fn is_mount_point(&self) -> bool {
        variant::is_mount_point(self.0.as_fd())
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

    /// Opens a file so that its permissions and times can be set, as [`open_file`](Self::open_file)
    /// does.
    pub(crate) fn open_to_set(&self, name: &Name) -> Result<OwnedFile, Errno> {
        self.open_file(name)
    }

    /// Creates a file to be written. `EEXIST` if there is anything of that name.
    pub(crate) fn create_file(&self, name: &Name, mode: u32) -> Result<OwnedFile, Errno> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        open_at(self.0.as_fd(), name, flags, mode)
    }

    /// Makes a file that shares the blocks of another one, where a system clones only whole files.
    /// `EEXIST` if there is anything of that name. `None` on other systems, and if the owner may not
    /// read the file.
    #[cfg_attr(
        not(target_vendor = "apple"),
        allow(unused_variables, clippy::unused_self, clippy::unnecessary_wraps)
    )]
    pub(crate) fn create_clone(
        &self,
        name: &Name,
        source: BorrowedFile<'_>,
        status: &EntryStatus,
    ) -> Result<Option<OwnedFile>, Errno> {
        #[cfg(target_vendor = "apple")]
        return variant::create_clone(self.0.as_fd(), name, source, status);
        #[cfg(not(target_vendor = "apple"))]
        Ok(None)
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

    /// Gives this directory the permissions and times of another one.
    pub(crate) fn set_mode_and_times(&self, status: &EntryStatus) -> Result<(), Errno> {
        set_mode_and_times(self.0.as_fd(), status)
    }

    /// Sets the times of an entry to those of another one. Of a link it sets those of the link
    /// itself.
    ///
    /// `utimensat`, [utimensat(2)](https://man7.org/linux/man-pages/man2/utimensat.2.html)
    pub(crate) fn set_times_of(&self, name: &Name, status: &EntryStatus) -> Result<(), Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        fs::utimensat(&self.0, name, &status.timestamps(), flags).map_err(errno)
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
