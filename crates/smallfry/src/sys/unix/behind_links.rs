//! Unix: calls for names in an open directory that follow a symbolic link of that name.

use std::os::fd::AsFd as _;

use rustix::fs::{self, AtFlags};

use super::at::open_at;
use super::entry::EntryStatus;
use super::names::Name;
use super::open_directory::OpenDirectory;
use super::platform::{OwnedFile, errno};
use crate::errno::Errno;

/// True: links can be followed.
pub(crate) const FOLLOWS_LINKS: bool = true;

impl OpenDirectory {
    /// Opens a directory. A name of something else is an error: `ENOTDIR`.
    pub(crate) fn open_directory_behind(&self, name: &Name) -> Result<Self, Errno> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        open_at(self.0.as_fd(), name, flags, 0).map(Self)
    }

    /// Returns the status of an entry. `ENOENT` if a link leads to nothing, `ELOOP` if to itself.
    ///
    /// `fstatat`, [stat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
    pub(crate) fn status_behind(&self, name: &Name) -> Result<EntryStatus, Errno> {
        let status = fs::statat(&self.0, name, AtFlags::empty()).map_err(errno)?;
        Ok(EntryStatus::new(&status))
    }

    /// Opens a file to be read. It does not wait, if the file has become a pipe meanwhile.
    pub(crate) fn open_file_behind(&self, name: &Name) -> Result<OwnedFile, Errno> {
        let flags = libc::O_RDONLY | libc::O_NONBLOCK;
        open_at(self.0.as_fd(), name, flags, 0)
    }

    /// Makes another name of a file. `EEXIST` if there is anything of that name.
    ///
    /// `linkat` with `AT_SYMLINK_FOLLOW`,
    /// [linkat(2)](https://man7.org/linux/man-pages/man2/link.2.html)
    pub(crate) fn make_hard_link_behind(
        &self,
        name: &Name,
        to: &Self,
        new_name: &Name,
    ) -> Result<(), Errno> {
        fs::linkat(&self.0, name, &to.0, new_name, AtFlags::SYMLINK_FOLLOW).map_err(errno)
    }
}
