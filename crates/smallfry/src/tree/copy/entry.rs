//! A new entry in the directory of a copy.

use std::io;
use std::sync::Arc;

use super::super::directory::Directory;
use crate::durable::temporary_name;
use crate::errno::Errno;
use crate::sys::{self, Kind, Name, OpenDirectory, OwnedName};

/// The treatment of a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced in one step: a reader sees the old file or the new one.
    #[default]
    Replace,
    /// It stays as it is.
    Keep,
    /// It is an error, and stays as it is.
    Refuse,
}

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

/// The maximum number of temporary names that are tried. A name is almost never taken.
const MAX_TRIES: u32 = 8;

impl Transfer<'_> {
    /// Makes a new entry by `call`, which gets its name: that of the entry, or a temporary one if
    /// something is there that is to be replaced. `None` if that is kept.
    pub(super) fn create<T>(
        &self,
        existing: Existing,
        call: impl Fn(&Name) -> Result<T, Errno>,
    ) -> io::Result<Option<(T, NewEntry<'_>)>> {
        let new_entry = |temporary| NewEntry {
            to: self.to,
            name: self.new_name,
            temporary,
            is_left: true,
        };
        match call(self.new_name) {
            Ok(made) => return Ok(Some((made, new_entry(None)))),
            Err(errno) if !sys::is_taken(errno) => return Err(errno.into()),
            Err(errno) => match existing {
                Existing::Keep => return Ok(None),
                Existing::Refuse => return Err(errno.into()),
                Existing::Replace => {}
            },
        }
        let there = self.to.status_of(self.new_name)?;
        if there.kind == Kind::Directory {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if there.identity == self.from.status_of(self.name)?.identity {
            return Err(invalid("source and destination are the same file"));
        }
        let mut tries = 0;
        loop {
            let temporary = temporary_name(sys::as_path(self.new_name));
            let temporary = sys::name_of(temporary.as_ref()).ok_or(io::ErrorKind::InvalidInput)?;
            match call(&temporary) {
                Ok(made) => return Ok(Some((made, new_entry(Some(temporary))))),
                Err(errno) if sys::is_taken(errno) && tries < MAX_TRIES => tries += 1,
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// A new entry that is removed when this is dropped, unless it was committed.
pub(super) struct NewEntry<'e> {
    to: &'e OpenDirectory,
    name: &'e Name,
    temporary: Option<OwnedName>,
    is_left: bool,
}

impl NewEntry<'_> {
    /// Gives the entry its name, which another one may have had.
    pub(super) fn commit(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            self.to.rename(temporary, self.name)?;
        }
        self.is_left = false;
        Ok(())
    }
}

impl Drop for NewEntry<'_> {
    fn drop(&mut self) {
        if self.is_left {
            // The caller has an error to report already.
            let name = self.temporary.as_deref().unwrap_or(self.name);
            _ = self.to.remove_file(name);
        }
    }
}

pub(super) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
