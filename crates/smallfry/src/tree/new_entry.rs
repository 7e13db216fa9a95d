//! A new entry of a directory. It may replace one that is there, in one step.

use std::io;

use crate::durable::temporary_name;
use crate::errno::Errno;
use crate::sys::{self, EntryStatus, Kind, Name, OpenDirectory, OwnedName};

/// The treatment of a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced in one step: a reader sees the old file or the new one.
    #[default]
    Replace,
    /// It stays as it is. So does a file that a killed process has left half written.
    Keep,
    /// It is an error, and stays as it is.
    Refuse,
}

/// The maximum number of temporary names that are tried. A name is almost never taken.
const MAX_TRIES: u32 = 8;

/// Makes a new entry by `call`, which gets its name: `name`, or a temporary one if something is
/// there that is to be replaced. `may_replace` gets the status of that. `None` if it is kept.
pub(crate) fn create<'e, T>(
    directory: &'e OpenDirectory,
    name: &'e Name,
    existing: Existing,
    may_replace: impl FnOnce(&EntryStatus) -> io::Result<()>,
    call: impl Fn(&Name) -> Result<T, Errno>,
) -> io::Result<Option<(T, NewEntry<'e>)>> {
    match call(name) {
        Ok(made) => return Ok(Some((made, NewEntry::new(directory, name, None)))),
        Err(errno) if !sys::is_taken(errno) => return Err(errno.into()),
        Err(errno) => match existing {
            Existing::Keep => return Ok(None),
            Existing::Refuse => return Err(errno.into()),
            Existing::Replace => {}
        },
    }
    let there = directory.status_of(name)?;
    if there.kind == Kind::Directory {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    may_replace(&there)?;
    create_temporary(directory, name, call).map(Some)
}

/// Makes a new entry by `call`, which gets a temporary name. The entry of the name `name`, if there
/// is one, is replaced by [`NewEntry::commit`].
fn create_temporary<'e, T>(
    directory: &'e OpenDirectory,
    name: &'e Name,
    call: impl Fn(&Name) -> Result<T, Errno>,
) -> io::Result<(T, NewEntry<'e>)> {
    let mut tries = 0;
    loop {
        let temporary = temporary_name(sys::as_path(name));
        let temporary = sys::name_of(temporary.as_ref()).ok_or(io::ErrorKind::InvalidInput)?;
        match call(&temporary) {
            Ok(made) => return Ok((made, NewEntry::new(directory, name, Some(temporary)))),
            Err(errno) if sys::is_taken(errno) && tries < MAX_TRIES => tries += 1,
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A new entry that is removed when this is dropped, unless it was committed.
pub(crate) struct NewEntry<'e> {
    directory: &'e OpenDirectory,
    name: &'e Name,
    temporary: Option<OwnedName>,
    is_left: bool,
}

impl<'e> NewEntry<'e> {
    fn new(directory: &'e OpenDirectory, name: &'e Name, temporary: Option<OwnedName>) -> Self {
        Self {
            directory,
            name,
            temporary,
            is_left: true,
        }
    }

    /// Returns the name that the entry has until it is committed.
    pub(crate) fn name(&self) -> &Name {
        self.temporary.as_deref().unwrap_or(self.name)
    }

    /// Returns true if an entry that is there is replaced.
    pub(super) fn replaces(&self) -> bool {
        self.temporary.is_some()
    }

    /// Gives the entry its name, which another one may have had.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            self.directory.rename(temporary, self.name)?;
        }
        self.is_left = false;
        Ok(())
    }
}

impl Drop for NewEntry<'_> {
    fn drop(&mut self) {
        if self.is_left {
            // The caller has an error to report already.
            _ = self.directory.remove_file(self.name());
        }
    }
}
