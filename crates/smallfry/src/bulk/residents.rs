//! Which pages of a mapping slots live on, and when those of dead slots go back to the system.

use std::ops::Range;

use crate::sync::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use crate::sys::{PAGE, page_size};

#[cfg(all(test, loom))]
mod model;

/// The slots of one mapping of so many [`PAGE`]s. One thread cuts slots, any thread may give one up.
pub(super) struct Residents<const PAGES: usize> {
    /// Bytes in slots that are alive.
    live: AtomicUsize,
    /// No more slots will be cut, and those that are alive are not about to go.
    full: AtomicBool,
    /// The pages of dead slots have gone back to the system.
    swept: AtomicBool,
    /// Slots alive on each page.
    pages: [AtomicU16; PAGES],
}

impl<const PAGES: usize> Residents<PAGES> {
    /// Bytes alive below which dead pages go back to the system: earlier would split huge pages for slots whose neighbours
    /// are about to go as well.
    const FEW: usize = PAGES * PAGE / 8;

    /// Nobody lives there yet.
    pub(super) fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            swept: AtomicBool::new(false),
            pages: std::array::from_fn(|_| AtomicU16::new(0)),
        }
    }

    fn of(offset: usize, size: usize) -> Range<usize> {
        offset / PAGE..(offset + size).div_ceil(PAGE)
    }

    /// A slot is cut.
    pub(super) fn move_in(&self, offset: usize, size: usize) {
        self.live.fetch_add(size, Ordering::Relaxed);
        for page in Self::of(offset, size) {
            self.pages[page].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// No more slots are cut, and pages of dead ones go back from now on. Whoever sees that sees the residents of all that were.
    pub(super) fn fill(&self, release: impl FnMut(Range<usize>)) {
        self.full.store(true, Ordering::Release);
        let live = self.live.load(Ordering::Acquire);
        if live > 0 && live < Self::FEW && !self.swept.swap(true, Ordering::Relaxed) {
            self.sweep(0..PAGES, release);
        }
    }

    /// A slot is gone. `release` gives pages back to the system, on which nobody lives; it may be told of some twice.
    pub(super) fn move_out(&self, offset: usize, size: usize, release: impl FnMut(Range<usize>)) {
        for page in Self::of(offset, size) {
            // Whoever finds the page empty and gives it back comes after the last look into this slot.
            self.pages[page].fetch_sub(1, Ordering::Release);
        }
        let live = self.live.fetch_sub(size, Ordering::AcqRel) - size;
        if live == 0 || live >= Self::FEW || !self.full.load(Ordering::Acquire) {
            return;
        }
        let pages = if self.swept.swap(true, Ordering::Relaxed) {
            around(Self::of(offset, size), page_size() / PAGE, PAGES)
        } else {
            0..PAGES
        };
        self.sweep(pages, release);
    }

    /// Gives those of `pages` back on which nobody lives.
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

/// Those of all pages that are parts of the same system pages as these, which consist of so many `parts`: only together can
/// they go back.
fn around(pages: Range<usize>, parts: usize, all: usize) -> Range<usize> {
    let end = pages.end.next_multiple_of(parts).min(all);
    pages.start / parts * parts..end
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_of_large_pages_go_back_together() {
        assert_eq!(around(3..5, 1, 512), 3..5);
        assert_eq!(around(3..5, 4, 512), 0..8);
        assert_eq!(around(17..18, 16, 512), 16..32);
        assert_eq!(around(511..512, 16, 512), 496..512);
    }
}
