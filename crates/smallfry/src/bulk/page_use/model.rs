//! Explores every interleaving of threads that remove slots and a thread that adds some, by loom.
//!
//! A page must not go back to the system while a slot on it is in use, or before the last access to
//! it is over. `make test-model` runs these tests.

#![allow(unsafe_code, reason = "it lends memory as the mapping does")]

use std::sync::{Arc, Mutex};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread;

use super::*;

/// Explores with up to four preemptions; `LOOM_MAX_PREEMPTIONS` sets another number. With
/// `SMALLFRY_SOAK=1` there is no limit, which takes 25 times as long.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    if std::env::var_os("SMALLFRY_SOAK").is_none() {
        builder.preemption_bound.get_or_insert(4);
    }
    builder.check(model);
}

const PAGES: usize = 4;
/// The size of a slot. It is so small that every removal gives pages back, also those that another
/// thread has just left.
const SLOT: usize = 64;

/// A mapping and its slots.
struct Memory {
    page_use: PageUse<PAGES>,
    /// The contents of each page. Giving it back counts as an access, and loom reports one that
    /// does not come after those of the slots.
    contents: [UnsafeCell<u8>; PAGES],
    released: Mutex<Vec<usize>>,
}

// SAFETY: loom reports accesses to cells that no order separates.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            page_use: PageUse::new(),
            contents: std::array::from_fn(|_| UnsafeCell::new(0)),
            released: Mutex::default(),
        })
    }

    /// Uses the slot on this page, and removes it.
    fn use_up(&self, page: usize) {
        self.contents[page].with_mut(|_| ());
        self.give_up(page * PAGE, SLOT);
    }

    fn give_up(&self, offset: usize, size: usize) {
        if self
            .page_use
            .remove(offset, size, |pages| self.release(pages))
        {
            self.sweep_all();
        }
    }

    fn fill(&self) {
        if self.page_use.fill() {
            self.sweep_all();
        }
    }

    fn sweep_all(&self) {
        self.page_use.sweep_all(|pages| self.release(pages));
    }

    fn release(&self, pages: Range<usize>) {
        for page in pages {
            // Two threads may give one page back, so this access is shared.
            self.contents[page].with(|_| ());
            self.released.lock().unwrap().push(page);
        }
    }
}

#[test]
fn pages_go_back_after_the_last_access_and_never_with_a_live_slot() {
    explore(|| {
        let memory = Memory::new();
        memory.page_use.add(0, SLOT);
        memory.page_use.add(PAGE, SLOT);
        let others = [0, 1].map(|page| {
            let memory = Arc::clone(&memory);
            thread::spawn(move || memory.use_up(page))
        });
        // This slot is added while the others may be removed, and it stays.
        memory.page_use.add(2 * PAGE, SLOT);
        memory.fill();
        memory.contents[2].with_mut(|_| ());
        for other in others {
            other.join().unwrap();
        }
        memory.contents[2].with_mut(|_| ());
        assert!(!memory.released.lock().unwrap().contains(&2));
    });
}

#[test]
fn a_page_with_two_slots_goes_back_after_both_are_removed() {
    explore(|| {
        let memory = Memory::new();
        for offset in [0, SLOT] {
            memory.page_use.add(offset, SLOT);
        }
        memory.page_use.add(3 * PAGE, SLOT);
        memory.fill();
        let other = thread::spawn({
            let memory = Arc::clone(&memory);
            move || memory.give_up(0, 64)
        });
        memory.give_up(SLOT, SLOT);
        other.join().unwrap();
        let released = memory.released.lock().unwrap();
        // The last of both threads gave it back, and the page of the third slot stays.
        assert!(released.contains(&0) && !released.contains(&3));
    });
}

#[test]
fn a_page_goes_back_if_another_thread_sweeps_while_its_slot_is_removed() {
    explore(|| {
        let memory = Memory::new();
        memory.page_use.add(0, SLOT);
        memory.page_use.add(PAGE, SLOT);
        assert!(memory.page_use.fill());
        let other = thread::spawn({
            let memory = Arc::clone(&memory);
            move || memory.sweep_all()
        });
        // The caller was told when it was filled, so this only removes.
        let page_use = &memory.page_use;
        assert!(!page_use.remove(0, SLOT, |pages| memory.release(pages)));
        other.join().unwrap();
        let released = memory.released.lock().unwrap();
        assert!(released.contains(&0) && !released.contains(&1));
    });
}
