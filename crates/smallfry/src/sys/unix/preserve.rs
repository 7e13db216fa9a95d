//! Unix: owner, access control list and extended attributes of a copy.

use std::os::fd::AsFd as _;

use rustix::fs::{self, AtFlags, Gid, Uid};

use super::AttributeKinds;
use super::entry::{EntryStatus, entry_status};
use super::names::Name;
use super::open_directory::OpenDirectory;
use super::platform::{BorrowedFile, errno};
use super::variant;
use crate::errno::Errno;

/// True: files have owners, access control lists and extended attributes.
pub(crate) const PRESERVES: bool = true;

/// Gives an entry with the status `own` the owner and group of another one, by `chown`.
///
/// Only root may give files away, and others may do so only to groups of their own. So if the
/// system refuses it to another user, the group alone is tried, and then both stay as they are.
/// `cp -p` has the same rule.
fn give_owner(
    own: &EntryStatus,
    status: &EntryStatus,
    chown: impl Fn(Option<Uid>, Option<Gid>) -> rustix::io::Result<()>,
) -> Result<(), Errno> {
    if own.owner_and_group() == status.owner_and_group() {
        return Ok(());
    }
    let (owner, group) = status.owner_and_group();
    let (owner, group) = (Uid::from_raw(owner), Gid::from_raw(group));
    match chown(Some(owner), Some(group)) {
        // An owner or group that the user namespace does not know is not valid.
        Err(rustix::io::Errno::PERM | rustix::io::Errno::INVAL)
            if !rustix::process::geteuid().is_root() =>
        {
            _ = chown(None, Some(group));
            Ok(())
        }
        done => done.map_err(errno),
    }
}

/// Gives an open file the owner and group of another one, as far as the user may do that.
///
/// `fchown`, [fchown(2)](https://man7.org/linux/man-pages/man2/fchown.2.html)
pub(crate) fn set_owner_of(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    let own = entry_status(file)?;
    give_owner(&own, status, |owner, group| fs::fchown(file, owner, group))
}

/// Gives an open file, which is a copy, the attributes of its source.
///
/// An attribute that the file system of the copy does not have, or that the user may not set, is
/// left out. That of an access control list is an error.
pub(crate) fn copy_attributes(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    kinds: AttributeKinds,
) -> Result<(), Errno> {
    variant::extended::copy(from, to, kinds)
}

impl OpenDirectory {
    /// Gives this directory the owner and group of another one, as [`set_owner_of`] does.
    pub(crate) fn set_owner_of(&self, status: &EntryStatus) -> Result<(), Errno> {
        set_owner_of(self.0.as_fd(), status)
    }

    /// Gives a link the owner and group of another one, as [`set_owner_of`] does.
    ///
    /// `fchownat`, [chown(2)](https://man7.org/linux/man-pages/man2/chown.2.html)
    pub(crate) fn set_owner_of_link(&self, name: &Name, status: &EntryStatus) -> Result<(), Errno> {
        let own = self.status_of(name)?;
        give_owner(&own, status, |owner, group| {
            fs::chownat(&self.0, name, owner, group, AtFlags::SYMLINK_NOFOLLOW)
        })
    }

    /// Gives a copy of this directory its attributes, as [`copy_attributes`] does.
    pub(crate) fn copy_attributes(&self, to: &Self, kinds: AttributeKinds) -> Result<(), Errno> {
        copy_attributes(self.0.as_fd(), to.0.as_fd(), kinds)
    }

    /// Gives the copy of a link its attributes, as [`copy_attributes`] does.
    pub(crate) fn copy_attributes_of_link(
        &self,
        name: &Name,
        to: &Self,
        new_name: &Name,
        kinds: AttributeKinds,
    ) -> Result<(), Errno> {
        let (from, to) = ((self.0.as_fd(), name), (to.0.as_fd(), new_name));
        variant::extended::copy_at(from, to, kinds)
    }
}
