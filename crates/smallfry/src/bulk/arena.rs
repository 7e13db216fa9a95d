//! Memory for the contents of many files.
//!
//! A file's bytes are read straight into a slot of a large mapping, and whoever gets them owns that slot: no copy, and a
//! page fault per 2 MiB instead of one per 4 KiB where the system gives huge pages. Slots never overlap. A mapping goes
//! back to the system when its last slot is gone. When less than an eighth of it lives on, and the mapping after it is full as
//! well, the pages of the dead ones go back: earlier would split huge pages, and take memory that is needed again at once, for slots
//! that are about to go like their neighbours.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::bytes::Bytes;
use super::residents::Residents;
use crate::sys::{HUGE_PAGE, Mapping, PAGE, thread_cpu_time};

/// Size of a shared mapping.
const CHUNK: usize = HUGE_PAGE;
/// Larger contents get a mapping of their own.
const SHARED_LIMIT: usize = CHUNK / 4;
/// Slots begin at a multiple of this, so that no two share a cache line. At pages they would take a fifth more memory for
/// files of 10 kB, and touching memory is most of the cost.
const LINE: usize = 64;
/// Empty mappings kept for the next reads, their pages in place, while there is an arena.
const KEPT: usize = 16;
/// A huge page is cleared in 0.1 to 0.4 ms of processor time, and 512 small pages take 0.8. Where a hypervisor has to find
/// the memory first a huge page takes 4 ms, and small pages, which are more often in use already, come faster.
const SLOW_HUGE_PAGE: Duration = Duration::from_millis(2);

static SPARE: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());
/// The last huge page took long to come. Then there are none until no arena is left.
static HUGE_PAGES_ARE_SLOW: AtomicBool = AtomicBool::new(false);
static ARENAS: AtomicUsize = AtomicUsize::new(0);

/// A mapping and the slots that live in it.
pub(super) struct Chunk {
    /// `None` only while it is dropped.
    mapping: Option<Mapping>,
    /// Many slots live in it, rather than one.
    shared: bool,
    residents: Residents<{ CHUNK / PAGE }>,
}

impl Chunk {
    fn new(mapping: Mapping, shared: bool) -> Self {
        Self {
            mapping: Some(mapping),
            shared,
            residents: Residents::new(),
        }
    }

    /// For many slots, with huge pages if they are wanted and come fast.
    fn shared(huge: bool) -> Option<Self> {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mapping = match spare {
            Some(mapping) => mapping,
            None => new_mapping(CHUNK, huge)?,
        };
        Some(Self::new(mapping, true))
    }

    /// For one large slot.
    fn single(size: usize) -> Option<Self> {
        Some(Self::new(new_mapping(size, size >= CHUNK)?, false))
    }

    /// Where the mapping begins.
    pub(super) fn base(&self) -> *mut u8 {
        match &self.mapping {
            Some(mapping) => mapping.base().as_ptr(),
            None => std::ptr::null_mut(),
        }
    }

    /// A slot is gone, and with it what only it kept in memory.
    pub(super) fn move_out(&self, offset: usize, size: usize) {
        if self.shared {
            self.residents
                .move_out(offset, size, |pages| self.release(&pages));
        }
    }

    /// What lives on is there to stay, as far as one can tell.
    fn settle(&self) {
        self.residents.fill(|pages| self.release(&pages));
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
            if spare.len() < KEPT && ARENAS.load(Ordering::Relaxed) > 0 {
                spare.push(mapping);
            }
        }
    }
}

fn new_mapping(size: usize, huge: bool) -> Option<Mapping> {
    let mapping = Mapping::new(size)?;
    if huge && !HUGE_PAGES_ARE_SLOW.load(Ordering::Relaxed) {
        // Not by the clock: the thread may have to wait for a processor.
        let start = thread_cpu_time();
        mapping.touch_huge_page();
        if thread_cpu_time().saturating_sub(start) > SLOW_HUGE_PAGE {
            HUGE_PAGES_ARE_SLOW.store(true, Ordering::Relaxed);
        }
    }
    Some(mapping)
}

/// Hands out room for contents; each reading thread has its own.
///
/// Memory of results that are gone is kept for the next ones while there is an arena in the process, up to 32 MiB.
#[derive(Debug)]
pub struct Arena {
    current: Option<Current>,
    /// The one before it, whose slots may be about to go.
    before: Weak<Chunk>,
}

/// The mapping that slots are being cut from.
struct Current {
    chunk: Arc<Chunk>,
    used: usize,
}

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {CHUNK} bytes", self.used)
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// Takes no memory yet.
    pub fn new() -> Self {
        ARENAS.fetch_add(1, Ordering::Relaxed);
        Self {
            current: None,
            before: Weak::new(),
        }
    }

    /// Room for `room` bytes, all zero or left from files that this process read; `None` if the system has no memory.
    pub fn allocate(&mut self, room: usize) -> Option<Bytes> {
        let size = room.checked_next_multiple_of(LINE)?.max(LINE);
        if size > SHARED_LIMIT {
            let chunk = Arc::new(Chunk::single(size)?);
            return Some(Bytes::part_of(chunk, 0, size, room));
        }
        if let Some(current) = &mut self.current
            && Arc::get_mut(&mut current.chunk).is_some()
        {
            // All results have been consumed and are gone, and the processor's cache still has their memory.
            current.used = 0;
        }
        let current = match self.current.take() {
            Some(current) if current.used + size <= CHUNK => self.current.insert(current),
            before => {
                // The first chunk is of small pages: a program that reads few files should not pay for 2 MiB.
                let huge = before.is_some();
                if let Some(full) = before {
                    self.settle_before();
                    self.before = Arc::downgrade(&full.chunk);
                }
                self.current.insert(Current {
                    chunk: Arc::new(Chunk::shared(huge)?),
                    used: 0,
                })
            }
        };
        let offset = current.used;
        current.chunk.residents.move_in(offset, size);
        current.used += size;
        Some(Bytes::part_of(
            Arc::clone(&current.chunk),
            offset,
            size,
            room,
        ))
    }

    fn settle_before(&self) {
        if let Some(chunk) = self.before.upgrade() {
            chunk.settle();
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.settle_before();
        if let Some(current) = self.current.take() {
            current.chunk.settle();
        }
        if ARENAS.fetch_sub(1, Ordering::Relaxed) == 1 {
            HUGE_PAGES_ARE_SLOW.store(false, Ordering::Relaxed);
            SPARE.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}
