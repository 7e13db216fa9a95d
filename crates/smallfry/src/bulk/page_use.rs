//! The pages of a mapping that live slots use. The other pages can go back to the system.

use std::ops::Range;

use crate::sys::{PAGE, page_size};
use smallfry_workers::sync::{AtomicBool, AtomicU16, AtomicUsize, Ordering};

#[cfg(all(test, loom))]
mod model;

/// The slots of one mapping of `PAGES` [`PAGE`]s. One thread adds slots, and any thread may remove
/// one.
pub(super) struct PageUse<const PAGES: usize> {
    /// The number of bytes in live slots.
    live: AtomicUsize,
    /// No more slots will be added, and live ones are likely to stay.
    full: AtomicBool,
    /// There were few live bytes once, and the caller was told.
    sparse: AtomicBool,
    /// The pages without live slots have gone back to the system.
    swept: AtomicBool,
    /// The number of live slots on each page.
    pages: [AtomicU16; PAGES],
}

impl<const PAGES: usize> PageUse<PAGES> {
    /// With fewer live bytes than this, unused pages may go back to the system. If they went back
    /// earlier, that would split huge pages whose other slots are likely to be removed soon.
    const FEW: usize = PAGES * PAGE / 8;

    /// Makes one without slots.
    pub(super) fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            sparse: AtomicBool::new(false),
            swept: AtomicBool::new(false),
            pages: std::array::from_fn(|_| AtomicU16::new(0)),
        }
    }

    fn of(offset: usize, size: usize) -> Range<usize> {
        offset / PAGE..(offset + size).div_ceil(PAGE)
    }

    /// Adds a slot.
    pub(super) fn add(&self, offset: usize, size: usize) {
        self.live.fetch_add(size, Ordering::Relaxed);
        for page in Self::of(offset, size) {
            self.pages[page].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says that no more slots will be added. Returns true if the caller has to [sweep
    /// all](Self::sweep_all), now or later.
    pub(super) fn fill(&self) -> bool {
        self.full.store(true, Ordering::Release);
        self.becomes_sparse(self.live.load(Ordering::Acquire))
    }

    /// Removes a slot. Returns true if the caller has to [sweep all](Self::sweep_all), now or
    /// later. Afterwards `release` gives unused pages back to the system; it may be called twice
    /// for a page.
    pub(super) fn remove(
        &self,
        offset: usize,
        size: usize,
        release: impl FnMut(Range<usize>),
    ) -> bool {
        for page in Self::of(offset, size) {
            // Release, so that a thread that finds the page unused comes after the last access to
            // this slot.
            self.pages[page].fetch_sub(1, Ordering::Release);
        }
        let live = self.live.fetch_sub(size, Ordering::AcqRel) - size;
        if live == 0 || live >= Self::FEW || !self.full.load(Ordering::Acquire) {
            return false;
        }
        // A change of nothing, so that one of two threads sees what the other did: this one that
        // all is swept, or the sweeping one that this slot is gone.
        if self.swept.fetch_or(false, Ordering::AcqRel) {
            let pages = around(Self::of(offset, size), page_size() / PAGE, PAGES);
            self.sweep(pages, release);
            return false;
        }
        self.becomes_sparse(live)
    }

    fn becomes_sparse(&self, live: usize) -> bool {
        live > 0 && live < Self::FEW && !self.sparse.swap(true, Ordering::Relaxed)
    }

    /// Gives all unused pages back. From now on [`remove`](Self::remove) does so with others.
    pub(super) fn sweep_all(&self, release: impl FnMut(Range<usize>)) {
        if !self.swept.swap(true, Ordering::AcqRel) {
            self.sweep(0..PAGES, release);
        }
    }

    /// Tells whether pages have gone back to the system.
    pub(super) fn is_swept(&self) -> bool {
        self.swept.load(Ordering::Relaxed)
    }

    /// Gives the unused ones of `pages` back.
    fn sweep(&self, pages: Range<usize>, mut release: impl FnMut(Range<usize>)) {
        let is_empty = |page: usize| self.pages[page].load(Ordering::Acquire) == 0;
        let mut page = pages.start;
        while page < pages.end {
            let start = page;
            while page < pages.end && is_empty(page) {
                page += 1;
            }
            if page > start {
                release(start..page);
            }
            page += 1;
        }
    }
}

/// Widens `pages` to whole pages of the system, each of which consists of this many `parts`.
fn around(pages: Range<usize>, parts: usize, all: usize) -> Range<usize> {
    let end = pages.end.next_multiple_of(parts).min(all);
    pages.start / parts * parts..end
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn around_widens_to_whole_pages_of_the_system() {
        assert_eq!(around(3..5, 1, 512), 3..5);
        assert_eq!(around(3..5, 4, 512), 0..8);
        assert_eq!(around(17..18, 16, 512), 16..32);
        assert_eq!(around(511..512, 16, 512), 496..512);
    }
}
