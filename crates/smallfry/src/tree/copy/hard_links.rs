//! The files of a source that have several names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::directory::Directory;
use super::entry::{Pair, Transfer};
use crate::sys::{EntryStatus, Identity, OwnedName};

/// The files with several names, as far as they were met.
#[derive(Default)]
pub(super) struct HardLinks {
    /// The first copy of each file.
    firsts: Mutex<HashMap<Identity, (Arc<Directory>, OwnedName)>>,
    /// The further names, which are made in the end.
    links: Mutex<Vec<Link>>,
}

/// A further name of a file.
pub(super) struct Link {
    of: Identity,
    pub(super) pair: Pair,
    pub(super) name: OwnedName,
    pub(super) new_name: OwnedName,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HardLinks {
    /// Remembers a file. Returns true if another thread copies it under another name, or has copied
    /// it.
    pub(super) fn has(&self, pair: &Pair, entry: &Transfer<'_>, status: &EntryStatus) -> bool {
        match lock(&self.firsts).entry(status.identity) {
            Entry::Vacant(vacant) => {
                vacant.insert((Arc::clone(&pair.to), entry.new_name.to_owned()));
                false
            }
            Entry::Occupied(_) => {
                lock(&self.links).push(Link {
                    of: status.identity,
                    pair: pair.clone(),
                    name: entry.name.to_owned(),
                    new_name: entry.new_name.to_owned(),
                });
                true
            }
        }
    }

    /// Forgets the first copy of a file, which was not made. Its other names must not become names
    /// of an older file in its place.
    pub(super) fn forget(&self, status: &EntryStatus) {
        lock(&self.firsts).remove(&status.identity);
    }

    /// Returns the place and name of the first copy of a file.
    pub(super) fn first(&self, link: &Link) -> Option<(Arc<Directory>, OwnedName)> {
        lock(&self.firsts).get(&link.of).cloned()
    }

    /// Takes the further names.
    pub(super) fn take(&self) -> Vec<Link> {
        std::mem::take(&mut *lock(&self.links))
    }
}
