//! The files of a source that have several names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::directory::Directory;
use super::entry::Pair;
use crate::sys::{EntryStatus, Identity, Name, OwnedName};

/// The files with several names, as far as they were met.
#[derive(Default)]
pub(in crate::tree) struct HardLinks {
    /// The first copy of each file.
    firsts: Mutex<HashMap<Identity, (Arc<Directory>, OwnedName)>>,
    /// The further names, which are made in the end.
    links: Mutex<Vec<Link>>,
}

/// A further name of a file.
pub(in crate::tree) struct Link {
    of: Identity,
    pub(in crate::tree) pair: Pair,
    pub(in crate::tree) name: OwnedName,
    pub(in crate::tree) new_name: OwnedName,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HardLinks {
    /// Remembers a file. Returns true if another thread copies it under another name, or has copied
    /// it.
    pub(in crate::tree) fn has(
        &self,
        pair: &Pair,
        name: &Name,
        new_name: &Name,
        status: &EntryStatus,
    ) -> bool {
        match lock(&self.firsts).entry(status.identity) {
            Entry::Vacant(vacant) => {
                vacant.insert((Arc::clone(&pair.to), new_name.to_owned()));
                false
            }
            Entry::Occupied(_) => {
                lock(&self.links).push(Link {
                    of: status.identity,
                    pair: pair.clone(),
                    name: name.to_owned(),
                    new_name: new_name.to_owned(),
                });
                true
            }
        }
    }

    /// Forgets the first copy of a file, which was not made. Its other names must not become names
    /// of an older file in its place.
    pub(in crate::tree) fn forget(&self, status: &EntryStatus) {
        lock(&self.firsts).remove(&status.identity);
    }

    /// Notes that a dry run has not made the first copy of a file. An older one may be there.
    pub(in crate::tree) fn leave_out(&self, status: &EntryStatus) {
        if let Some((directory, _)) = lock(&self.firsts).get_mut(&status.identity) {
            *directory = Directory::absent(None, status.identity);
        }
    }

    /// Returns the place and name of the first copy of a file.
    pub(in crate::tree) fn first(&self, link: &Link) -> Option<(Arc<Directory>, OwnedName)> {
        lock(&self.firsts).get(&link.of).cloned()
    }

    /// Takes the further names.
    pub(in crate::tree) fn take(&self) -> Vec<Link> {
        std::mem::take(&mut *lock(&self.links))
    }
}
