//! The copy of what is behind links.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::directory::{Directories, Directory};
use super::entry::{Found, invalid};
use super::links::Links;
use super::options::Options;
use crate::sys::{self, EntryStatus, Identity, Kind, Name, OpenDirectory};

/// The following of links in a tree that is copied.
pub(super) struct Following {
    follows: bool,
    /// The source.
    top: OnceLock<Identity>,
    /// The destination and the directories that the copy has made, which are not copied again.
    /// Without this, a link to one of them could make the copy endless.
    made: Mutex<HashSet<Identity>>,
}

impl Following {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            follows: options.links == Links::Follow,
            top: OnceLock::new(),
            made: Mutex::default(),
        }
    }

    fn made(&self) -> MutexGuard<'_, HashSet<Identity>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the copy of a directory.
    pub(super) fn begin(&self, source: &Directory, destination: &Directory) {
        if self.follows {
            _ = self.top.set(source.identity());
            self.made().insert(destination.identity());
        }
    }

    /// Refuses to follow where this system cannot.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.follows && !sys::FOLLOWS_LINKS {
            let reason = "links are not followed on this system";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        Ok(())
    }

    /// Returns what there is to copy at a name that has this kind.
    pub(super) fn find(&self, open: &OpenDirectory, name: &Name, kind: Kind) -> io::Result<Found> {
        if !self.follows || kind != Kind::Link {
            return Ok(Found::itself(kind));
        }
        let status = open.status_behind(name).map_err(|errno| {
            if sys::is_missing(errno) {
                return io::Error::new(io::ErrorKind::NotFound, "the link leads to nothing");
            }
            errno.into()
        })?;
        Ok(Found {
            kind: status.kind,
            is_behind_link: true,
        })
    }

    /// Enters a directory of the source.
    pub(super) fn enter(
        &self,
        directories: &Directories,
        above: &Arc<Directory>,
        name: &Name,
    ) -> io::Result<(Arc<Directory>, EntryStatus)> {
        if !self.follows {
            return directories.enter(above, name);
        }
        let entered = directories.enter_behind(above, name)?;
        let identity = entered.0.identity();
        if self.is_in(above, identity) {
            return Err(invalid("the link leads to a directory that it is in"));
        }
        if self.made().contains(&identity) {
            return Err(invalid("a directory cannot be copied into itself"));
        }
        Ok(entered)
    }

    /// Returns true if a directory of the source is another one or in it. It is in those through
    /// which the copy has come to it.
    fn is_in(&self, directory: &Arc<Directory>, other: Identity) -> bool {
        let mut here = directory;
        loop {
            if here.identity() == other {
                return true;
            }
            match here.place() {
                Some((above, _)) if Some(&here.identity()) != self.top.get() => here = above,
                _ => return false,
            }
        }
    }

    /// Makes a directory of the copy by `create`, so that [`enter`](Self::enter) does not enter it.
    pub(super) fn make<E>(
        &self,
        create: impl FnOnce() -> Result<(Arc<Directory>, bool), E>,
    ) -> Result<(Arc<Directory>, bool), E> {
        if !self.follows {
            return create();
        }
        // Another thread that finds the directory waits until it is in the set.
        let mut made = self.made();
        let (directory, is_new) = create()?;
        if is_new {
            made.insert(directory.identity());
        }
        Ok((directory, is_new))
    }
}
