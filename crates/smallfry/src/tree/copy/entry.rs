//! An entry on its way from one directory to another.

use std::io;
use std::sync::Arc;

use super::super::directory::Directory;
use super::super::new_entry::{self, Existing, NewEntry};
use crate::errno::Errno;
use crate::sys::{EntryStatus, Kind, Name, OpenDirectory};

/// A directory of the source and the one that it is copied to.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) from: Arc<Directory>,
    pub(super) to: Arc<Directory>,
}

/// An entry on its way from one directory to another.
pub(super) struct Transfer<'e> {
    pub(super) from: &'e OpenDirectory,
    pub(super) to: &'e OpenDirectory,
    pub(super) name: &'e Name,
    pub(super) new_name: &'e Name,
    pub(super) kind: Kind,
}

impl Transfer<'_> {
    /// Makes the new entry by `call`, as [`new_entry::create`] does. The source itself is not
    /// replaced.
    pub(super) fn create<T>(
        &self,
        existing: Existing,
        call: impl Fn(&Name) -> Result<T, Errno>,
    ) -> io::Result<Option<(T, NewEntry<'_>)>> {
        let may_replace = |there: &EntryStatus| {
            if there.identity == self.from.status_of(self.name)?.identity {
                return Err(invalid("source and destination are the same file"));
            }
            Ok(())
        };
        new_entry::create(self.to, self.new_name, existing, may_replace, call)
    }
}

pub(super) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
