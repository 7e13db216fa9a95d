//! Mappings from which slots for contents are cut.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use smallfry_workers::thread_cpu_time;

use super::page_use::PageUse;
use super::pool::{self, CHUNK, Sparse};
use crate::sys::{Mapping, PAGE};

/// A huge page that takes longer than this comes from a hypervisor that has to find the memory
/// first. Then small pages, which are more often mapped already, are faster. A huge page is usually
/// cleared in 0.1 to 0.4 ms of processor time, and 512 small pages in 0.8 ms.
const SLOW_HUGE_PAGE: Duration = Duration::from_millis(2);

/// The last huge page was slow. There are none until no arena is left.
static HUGE_PAGES_ARE_SLOW: AtomicBool = AtomicBool::new(false);
static ARENAS: AtomicUsize = AtomicUsize::new(0);

/// Counts an arena.
pub(super) fn enter_arena() {
    ARENAS.fetch_add(1, Ordering::Relaxed);
}

/// Stops counting an arena.
pub(super) fn leave_arena() {
    if ARENAS.fetch_sub(1, Ordering::Relaxed) == 1 {
        HUGE_PAGES_ARE_SLOW.store(false, Ordering::Relaxed);
    }
}

/// A mapping and its slots.
pub(super) struct Chunk {
    /// `None` only while it is dropped.
    mapping: Option<Mapping>,
    /// It holds many slots, not one.
    shared: bool,
    pages: PageUse<{ CHUNK / PAGE }>,
}

impl Chunk {
    fn new(mapping: Mapping, shared: bool) -> Self {
        Self {
            mapping: Some(mapping),
            shared,
            pages: PageUse::new(),
        }
    }

    /// Makes a mapping for many slots, with huge pages if they are wanted and come fast.
    pub(super) fn shared(huge: bool) -> Option<Self> {
        let mapping = match pool::take() {
            Some(mapping) => mapping,
            None => new_mapping(CHUNK, huge)?,
        };
        Some(Self::new(mapping, true))
    }

    /// Makes a mapping for one large slot.
    pub(super) fn single(size: usize) -> Option<Self> {
        Some(Self::new(new_mapping(size, size >= CHUNK)?, false))
    }

    /// Returns the start of the mapping.
    pub(super) fn base(&self) -> *mut u8 {
        match &self.mapping {
            Some(mapping) => mapping.base().as_ptr(),
            None => std::ptr::null_mut(),
        }
    }

    /// Adds a slot.
    pub(super) fn add(&self, offset: usize, size: usize) {
        self.pages.add(offset, size);
    }

    /// Removes a slot. Pages that only it used may go back to the system, perhaps later.
    pub(super) fn remove(self: &Arc<Self>, offset: usize, size: usize) {
        if self.shared
            && self
                .pages
                .remove(offset, size, |pages| self.release(&pages))
        {
            self.sweep_later();
        }
    }

    /// Says that no more slots will be added, and that live ones are likely to stay.
    pub(super) fn fill(self: &Arc<Self>) {
        if self.pages.fill() {
            self.sweep_later();
        }
    }

    fn sweep_later(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        pool::sweep_later(weak);
    }

    fn release(&self, pages: &Range<usize>) {
        if let Some(mapping) = &self.mapping {
            mapping.release(pages.start * PAGE, pages.len() * PAGE);
        }
    }
}

impl Sparse for Chunk {
    fn sweep(&self) {
        self.pages.sweep_all(|pages| self.release(&pages));
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take()
            && self.shared
            && !self.pages.is_swept()
        {
            pool::keep(mapping);
        }
    }
}

fn new_mapping(size: usize, huge: bool) -> Option<Mapping> {
    let mut mapping = Mapping::new(size);
    if mapping.is_none() && pool::clear() {
        mapping = Mapping::new(size);
    }
    let mapping = mapping?;
    if huge && !HUGE_PAGES_ARE_SLOW.load(Ordering::Relaxed) {
        // Processor time is measured, since by the clock the thread may wait for a processor.
        let start = thread_cpu_time();
        mapping.touch_huge_page();
        if thread_cpu_time().saturating_sub(start) > SLOW_HUGE_PAGE {
            HUGE_PAGES_ARE_SLOW.store(true, Ordering::Relaxed);
        }
    }
    Some(mapping)
}
