//! The caches of digests that calls of an environment have open.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use smallfry::hash::Cache;

/// The open caches, by numbers from 1 up.
#[derive(Default)]
pub(crate) struct Caches {
    last: Cell<i32>,
    open: RefCell<HashMap<i32, Cache>>,
}

impl Caches {
    /// Keeps a cache. Returns its number.
    pub(crate) fn put(&self, cache: Cache) -> i32 {
        let number = self.last.get() % i32::MAX + 1;
        self.last.set(number);
        self.open.borrow_mut().insert(number, cache);
        number
    }

    /// Returns a cache; `None` for 0.
    pub(crate) fn find(&self, number: i32) -> Option<Cache> {
        self.open.borrow().get(&number).cloned()
    }

    /// Drops all caches.
    pub(crate) fn release(&self) {
        self.open.take();
    }

    /// Takes a cache out.
    pub(crate) fn take(&self, number: i32) -> Option<Cache> {
        self.open.borrow_mut().remove(&number)
    }
}
