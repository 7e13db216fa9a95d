//! An entry on its way from one directory to another.

use std::io;
use std::sync::Arc;

use super::super::directory::Directory;
use super::super::new_entry::{self, Existing, NewEntry};
use crate::errno::Errno;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, EntryStatus, Kind, Name, OpenDirectory};

/// A directory of the source and the one that it is copied to.
#[derive(Clone)]
pub(in crate::tree) struct Pair {
    pub(in crate::tree) from: Arc<Directory>,
    pub(in crate::tree) to: Arc<Directory>,
}

/// An entry of the source, after a link there was followed or not.
#[derive(Clone, Copy)]
pub(in crate::tree) struct Found {
    pub(in crate::tree) kind: Kind,
    /// The name is that of a link, which is followed.
    pub(in crate::tree) is_behind_link: bool,
}

impl Found {
    /// An entry that is copied as it is.
    pub(in crate::tree) const fn itself(kind: Kind) -> Self {
        Self {
            kind,
            is_behind_link: false,
        }
    }
}

/// An entry on its way from one directory to another.
pub(in crate::tree) struct Transfer<'e> {
    pub(in crate::tree) from: &'e OpenDirectory,
    pub(in crate::tree) to: &'e OpenDirectory,
    pub(in crate::tree) name: &'e Name,
    pub(in crate::tree) new_name: &'e Name,
    pub(in crate::tree) found: Found,
}

impl Transfer<'_> {
    /// Opens the source, which must be a file.
    pub(in crate::tree) fn open(&self) -> io::Result<(OwnedFile, EntryStatus)> {
        let source = if self.found.is_behind_link {
            self.from.open_file_behind(self.name)?
        } else {
            self.from.open_file(self.name)?
        };
        let status = sys::entry_status(raw::borrow(&source))?;
        if status.kind != Kind::File {
            return Err(invalid("the file was replaced by something else meanwhile"));
        }
        Ok((source, status))
    }

    /// Returns the status of the source.
    pub(super) fn status(&self) -> Result<EntryStatus, Errno> {
        if self.found.is_behind_link {
            self.from.status_behind(self.name)
        } else {
            self.from.status_of(self.name)
        }
    }

    /// Makes a further name of the source.
    pub(in crate::tree) fn link(&self, new_name: &Name) -> Result<(), Errno> {
        if self.found.is_behind_link {
            self.from
                .make_hard_link_behind(self.name, self.to, new_name)
        } else {
            self.from.make_hard_link(self.name, self.to, new_name)
        }
    }

    /// Returns true if the new entry is there and is a name of the source.
    pub(in crate::tree) fn is_linked(&self) -> bool {
        let there = self.to.status_of(self.new_name);
        let source = self.status();
        there.is_ok_and(|there| source.is_ok_and(|source| source.identity == there.identity))
    }

    /// Makes the new entry by `call`, as [`new_entry::create`] does. The source itself is not
    /// replaced.
    pub(in crate::tree) fn create<T>(
        &self,
        existing: Existing,
        call: impl Fn(&Name) -> Result<T, Errno>,
    ) -> io::Result<Option<(T, NewEntry<'_>)>> {
        let may_replace = |there: &EntryStatus| {
            if there.identity == self.status()?.identity {
                return Err(invalid("source and destination are the same file"));
            }
            Ok(())
        };
        new_entry::create(self.to, self.new_name, existing, may_replace, call)
    }
}

pub(in crate::tree) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
