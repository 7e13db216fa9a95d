//! Windows: owners and attributes that other systems give to copies. All calls refuse.

use windows_sys::Win32::Foundation::ERROR_NOT_SUPPORTED;

use super::AttributeKinds;
use super::entry::EntryStatus;
use super::names::Name;
use super::open_directory::OpenDirectory;
use super::platform::BorrowedFile;
use crate::errno::Errno;

/// False: owners, access control lists and attributes are not given to copies here.
pub(crate) const PRESERVES: bool = false;

const UNSUPPORTED: Errno = Errno(ERROR_NOT_SUPPORTED.cast_signed());

pub(crate) fn set_owner_of(_: BorrowedFile<'_>, _: &EntryStatus) -> Result<(), Errno> {
    Err(UNSUPPORTED)
}

pub(crate) fn copy_attributes(
    _: BorrowedFile<'_>,
    _: BorrowedFile<'_>,
    _: AttributeKinds,
) -> Result<(), Errno> {
    Err(UNSUPPORTED)
}

#[allow(clippy::unused_self, reason = "other systems use it")]
impl OpenDirectory {
    pub(crate) fn set_owner_of(&self, _: &EntryStatus) -> Result<(), Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn set_owner_of_link(&self, _: &Name, _: &EntryStatus) -> Result<(), Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn copy_attributes(&self, _: &Self, _: AttributeKinds) -> Result<(), Errno> {
        Err(UNSUPPORTED)
    }

    pub(crate) fn copy_attributes_of_link(
        &self,
        _: &Name,
        _: &Self,
        _: &Name,
        _: AttributeKinds,
    ) -> Result<(), Errno> {
        Err(UNSUPPORTED)
    }
}
