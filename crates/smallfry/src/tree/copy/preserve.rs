//! The owner, attributes, permissions and times that a copy gets from its source.
//!
//! The owner comes first, because the system takes the permissions to run as the owner, and
//! capabilities, from a file that gets another one. Access control lists have permissions of their
//! own, so they come before the permissions. Times come last, because all of that changes them.

use std::io;

use super::copying::Copying;
use crate::errno::Errno;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, AttributeKinds, EntryStatus, Name, OpenDirectory};

/// Says in the error of a call what it was to keep.
fn kept<T>(what: &str, done: Result<T, Errno>) -> io::Result<T> {
    done.map_err(|errno| {
        let reason = io::Error::from(errno);
        io::Error::new(
            reason.kind(),
            format!("the {what} cannot be kept: {reason}"),
        )
    })
}

const OWNER: &str = "owner or group";
const ATTRIBUTES: &str = "access control list or an extended attribute";

impl Copying<'_> {
    fn has_attributes(&self) -> bool {
        self.options.attributes != AttributeKinds::NONE
    }

    /// Refuses what this system does not preserve.
    pub(super) fn check_preserved(&self) -> io::Result<()> {
        if !sys::PRESERVES && (self.options.owner || self.has_attributes()) {
            let reason =
                "owners, access control lists and attributes are not copied on this system";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        Ok(())
    }

    /// Returns the permissions to create a copy with. They let in no user that the source keeps
    /// out.
    pub(super) fn mode_at_first(&self, status: &EntryStatus) -> u32 {
        if self.options.owner || self.has_attributes() {
            // Attributes can be given only to a file that may be written.
            status.mode & 0o700 | 0o600
        } else {
            status.mode & 0o777
        }
    }

    /// Gives the copy of a file all but its contents.
    pub(super) fn preserve_file(
        &self,
        source: &OwnedFile,
        copy: &OwnedFile,
        status: &EntryStatus,
    ) -> io::Result<()> {
        let copy = raw::borrow(copy);
        if self.options.owner {
            kept(OWNER, sys::set_owner_of(copy, status))?;
        }
        if self.has_attributes() {
            let source = raw::borrow(source);
            let copied = sys::copy_attributes(source, copy, self.options.attributes);
            kept(ATTRIBUTES, copied)?;
        }
        sys::set_mode_of(copy, status)?;
        if self.options.times {
            sys::set_times(copy, status)?;
        }
        Ok(())
    }

    /// Gives the copy of a directory all but its entries. `source` opens the source.
    pub(super) fn preserve_directory(
        &self,
        source: impl FnOnce() -> io::Result<std::sync::Arc<OpenDirectory>>,
        copy: &OpenDirectory,
        status: &EntryStatus,
    ) -> io::Result<()> {
        if self.options.owner {
            kept(OWNER, copy.set_owner_of(status))?;
        }
        if self.has_attributes() {
            let copied = source()?.copy_attributes(copy, self.options.attributes);
            kept(ATTRIBUTES, copied)?;
        }
        copy.set_mode_of(status)?;
        if self.options.times {
            copy.set_times(status)?;
        }
        Ok(())
    }

    /// Gives the copy of a link all but its target.
    pub(super) fn preserve_link(
        &self,
        (from, name): (&OpenDirectory, &Name),
        (to, new_name): (&OpenDirectory, &Name),
    ) -> io::Result<()> {
        let options = self.options;
        if !(options.owner || options.times || options.attributes.others) {
            return Ok(());
        }
        let status = from.status_of(name)?;
        if options.owner {
            kept(OWNER, to.set_owner_of_link(new_name, &status))?;
        }
        if options.attributes.others {
            // A link has no list.
            let kinds = AttributeKinds {
                access_lists: false,
                ..options.attributes
            };
            let copied = from.copy_attributes_of_link(name, to, new_name, kinds);
            kept(ATTRIBUTES, copied)?;
        }
        if options.times {
            to.set_times_of(new_name, &status)?;
        }
        Ok(())
    }
}
