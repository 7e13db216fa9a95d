//! Memory for the contents of many files.
//!
//! A file is read straight into a slot of a large mapping, and the result owns that slot. So
//! nothing is copied, and a page fault covers 2 MiB instead of 4 KiB where the system gives huge
//! pages. Slots never overlap. A mapping without slots is kept for the next reads for a moment, by
//! `pool`. Single pages go back some time after less than an eighth of a mapping is alive and the
//! mapping after it is full. If they went back earlier, that would split huge pages, and their
//! memory might be needed again at once.

use std::sync::{Arc, Weak};

use super::bytes::Bytes;
use super::chunk::{self, Chunk};
use super::pool::CHUNK;

/// Larger contents get a mapping of their own.
const MAX_SHARED: usize = CHUNK / 4;
/// Slots begin at multiples of a cache line, so that no two share one. At pages they would take a
/// fifth more memory for files of 10 kB, and touching memory is most of the cost.
const LINE: usize = 64;

/// The memory of one reading thread, from which room for contents is taken.
///
/// Memory of dropped results is kept for the next ones, up to 160 MiB in the process. It goes back
/// to the system when none was needed for a second.
#[derive(Debug)]
pub struct Arena {
    current: Option<Current>,
    /// The mapping before it, whose slots may be dropped soon.
    before: Weak<Chunk>,
}

/// The mapping from which slots are taken.
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
    /// Makes an arena without memory.
    pub fn new() -> Self {
        chunk::enter_arena();
        Self {
            current: None,
            before: Weak::new(),
        }
    }

    /// Takes room for `room` bytes, which are zero or left from files that this process read.
    /// Returns `None` if the system has no memory.
    pub fn allocate(&mut self, room: usize) -> Option<Bytes> {
        let size = room.checked_next_multiple_of(LINE)?.max(LINE);
        if size > MAX_SHARED {
            let chunk = Arc::new(Chunk::single(size)?);
            return Some(Bytes::part_of(chunk, 0, size, room));
        }
        if let Some(current) = &mut self.current
            && Arc::get_mut(&mut current.chunk).is_some()
        {
            // All results were dropped, and the processor's cache still has their memory.
            current.used = 0;
        }
        let current = match self.current.take() {
            Some(current) if current.used + size <= CHUNK => self.current.insert(current),
            before => {
                // The first chunk has small pages, so that a program that reads few files does not
                // pay for 2 MiB.
                let huge = before.is_some();
                if let Some(full) = before {
                    self.fill_before();
                    self.before = Arc::downgrade(&full.chunk);
                }
                self.current.insert(Current {
                    chunk: Arc::new(Chunk::shared(huge)?),
                    used: 0,
                })
            }
        };
        let offset = current.used;
        current.chunk.add(offset, size);
        current.used += size;
        Some(Bytes::part_of(
            Arc::clone(&current.chunk),
            offset,
            size,
            room,
        ))
    }

    fn fill_before(&self) {
        if let Some(chunk) = self.before.upgrade() {
            chunk.fill();
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.fill_before();
        if let Some(current) = self.current.take() {
            current.chunk.fill();
        }
        chunk::leave_arena();
    }
}
