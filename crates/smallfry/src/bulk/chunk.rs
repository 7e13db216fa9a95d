//! Mappings from which slots for contents are cut.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use smallfry_workers::thread_cpu_time;

use super::page_use::PageUse;
use crate::sys::{HUGE_PAGE, Mapping, PAGE};

/// The size of a shared mapping in bytes.
pub(super) const CHUNK: usize = HUGE_PAGE;
/// The maximum number of unused mappings that are kept for the next reads, while there is an arena.
const MAX_SPARE: usize = 16;
/// A huge page that takes longer than this comes from a hypervisor that has to find the memory
/// first. Then small pages, which are more often mapped already, are faster. A huge page is usually
/// cleared in 0.1 to 0.4 ms of processor time, and 512 small pages in 0.8 ms.
const SLOW_HUGE_PAGE: Duration = Duration::from_millis(2);

static SPARE: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());
/// The last huge page was slow. There are none until no arena is left.
static HUGE_PAGES_ARE_SLOW: AtomicBool = AtomicBool::new(false);
static ARENAS: AtomicUsize = AtomicUsize::new(0);

/// Counts an arena. While there is one, unused mappings are kept.
pub(super) fn enter_arena() {
    ARENAS.fetch_add(1, Ordering::Relaxed);
}

/// Stops counting an arena. The last one frees unused mappings.
pub(super) fn leave_arena() {
    if ARENAS.fetch_sub(1, Ordering::Relaxed) == 1 {
        HUGE_PAGES_ARE_SLOW.store(false, Ordering::Relaxed);
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).clear();
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
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mapping = match spare {
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

    /// Removes a slot. Pages that only it used may go back to the system.
    pub(super) fn remove(&self, offset: usize, size: usize) {
        if self.shared {
            self.pages
                .remove(offset, size, |pages| self.release(&pages));
        }
    }

    /// Says that no more slots will be added, and that live ones are likely to stay.
    pub(super) fn fill(&self) {
        self.pages.fill(|pages| self.release(&pages));
    }

    fn release(&self, pages: &Range<usize>) {
        if let Some(mapping) = &self.mapping {
            mapping.release(pages.start * PAGE, pages.len() * PAGE);
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take().filter(|_| self.shared) {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() < MAX_SPARE && ARENAS.load(Ordering::Relaxed) > 0 {
                spare.push(mapping);
            }
        }
    }
}

fn new_mapping(size: usize, huge: bool) -> Option<Mapping> {
    let mapping = Mapping::new(size)?;
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
