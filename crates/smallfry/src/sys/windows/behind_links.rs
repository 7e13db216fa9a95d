//! Windows: calls that follow a link on other systems. All of them refuse.

use windows_sys::Win32::Foundation::ERROR_NOT_SUPPORTED;

use super::entry::EntryStatus;
use super::names::Name;
use super::open_directory::OpenDirectory;
use super::platform::OwnedFile;
use crate::errno::Errno;

/// False: links are not followed in trees.
pub(crate) const FOLLOWS_LINKS: bool = false;

const UNSUPPORTED: Errno = Errno(ERROR_NOT_SUPPORTED.cast_signed());

#[allow(clippy::unused_self, reason = "other systems use it")]
impl OpenDirectory {
    pub(crate) fn open_directory_behind(&self, _: &Name) -> Result<Self, Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn status_behind(&self, _: &Name) -> Result<EntryStatus, Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn open_file_behind(&self, _: &Name) -> Result<OwnedFile, Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn make_hard_link_behind(&self, _: &Name, _: &Self, _: &Name) -> Result<(), Errno> {
        Err(UNSUPPORTED)
    }
}
