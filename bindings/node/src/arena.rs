//! Memory for the contents of files on their way to JavaScript.
//!
//! A file's bytes are read straight into a slot of a large mapping, and the Buffer or external string made of them owns
//! that slot: no copy into the engine's heap, and a page fault per 2 MiB instead of one per 4 KiB where the system gives
//! huge pages. Slots never overlap, and each Buffer has an `ArrayBuffer` of its own length. A mapping goes back to the
//! system when its last slot is gone. When less than an eighth of it lives on, the pages of the dead ones go back:
//! earlier would split huge pages for slots whose neighbours are about to go as well.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Size of a shared mapping, that of a huge page on the processors this was measured on.
const CHUNK: usize = 2 << 20;
/// Larger contents get a mapping of their own.
const SHARED_LIMIT: usize = CHUNK / 4;
/// What the system gives and takes back. Contents of less than this are copied into the engine's heap: that costs less
/// than the finaliser of an external value.
const PAGE: usize = 4096;
/// Slots begin at a multiple of this, so that no two share a cache line. At pages they would take a fifth more memory for
/// files of 10 kB, and touching memory is most of the cost.
const LINE: usize = 64;
/// Empty mappings kept for the next reads, their pages in place, until all threads rest.
const KEPT: usize = 32;
/// A huge page is cleared in 0.1 ms. Where a hypervisor has to find the memory first it is 4 ms, and small pages, which
/// are more often in use already, come faster.
const SLOW_HUGE_PAGE: Duration = Duration::from_micros(500);
/// Slots alive in a chunk below which its dead pages go back to the system. In bytes.
const FEW: usize = CHUNK / 8;

static SPARE: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());
/// The last huge page took long to come. Then there are none until all threads have rested.
static HUGE_PAGES_ARE_SLOW: AtomicBool = AtomicBool::new(false);
/// Whether there are threads that may want mappings.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// An anonymous private mapping.
struct Mapping {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is plain memory, reachable only through its slots, which do not overlap.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(size: usize, huge: bool) -> Option<Self> {
        // A huge page needs its alignment: ask for more, give back what is over.
        let align = if size >= CHUNK { CHUNK } else { PAGE };
        let wanted = size.checked_add(align - PAGE)?;
        // SAFETY: a new anonymous mapping touches no existing memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                wanted,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let start = base as usize;
        let aligned = start.next_multiple_of(align);
        let unmap = |from: usize, to: usize| {
            if to > from {
                // SAFETY: both ends are page-aligned and inside the mapping made above, outside the part kept.
                unsafe { libc::munmap(from as *mut _, to - from) };
            }
        };
        unmap(start, aligned);
        unmap(aligned + size, start + wanted);
        let mapping = Self {
            base: NonNull::new(aligned as *mut u8)?,
            size,
        };
        #[cfg(target_os = "linux")]
        if huge && !HUGE_PAGES_ARE_SLOW.load(Ordering::Relaxed) {
            mapping.ask_for_huge_pages();
        }
        Some(mapping)
    }

    /// Asks for huge pages, and sees how long the first takes.
    #[cfg(target_os = "linux")]
    fn ask_for_huge_pages(&self) {
        let start = Instant::now();
        // SAFETY: advice on memory that is ours, and a first byte written to it.
        unsafe {
            libc::madvise(self.base.as_ptr().cast(), self.size, libc::MADV_HUGEPAGE);
            self.base.as_ptr().write_volatile(0);
        }
        if start.elapsed() > SLOW_HUGE_PAGE {
            HUGE_PAGES_ARE_SLOW.store(true, Ordering::Relaxed);
        }
    }

    /// Gives `size` bytes of whole pages at `offset` back to the system; they read as zeros afterwards.
    fn release(&self, offset: usize, size: usize) {
        // SAFETY: the range is inside this mapping, page-aligned, and belongs to a slot that is going.
        unsafe {
            libc::madvise(
                self.base.as_ptr().add(offset).cast(),
                size,
                libc::MADV_DONTNEED,
            )
        };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the last owner of the whole mapping is going.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.size) };
    }
}

struct Chunk {
    mapping: Option<Mapping>,
    /// Many slots live in it, rather than one.
    shared: bool,
    /// Bytes in slots that are alive.
    live: AtomicUsize,
    /// No more slots will be cut from it.
    full: AtomicBool,
    /// Its dead pages have gone back to the system.
    swept: AtomicBool,
    /// Slots alive on each page.
    residents: [AtomicU16; CHUNK / PAGE],
}

impl Chunk {
    fn new(size: usize, huge: bool) -> Option<Self> {
        let spare = (size == CHUNK)
            .then(|| SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop())
            .flatten();
        let mapping = match spare {
            Some(mapping) => mapping,
            None => Mapping::new(size, huge)?,
        };
        Some(Self {
            mapping: Some(mapping),
            shared: true,
            live: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            swept: AtomicBool::new(false),
            residents: [const { AtomicU16::new(0) }; CHUNK / PAGE],
        })
    }

    fn pages(offset: usize, size: usize) -> Range<usize> {
        offset / PAGE..(offset + size).div_ceil(PAGE)
    }

    fn move_in(&self, offset: usize, size: usize) {
        self.live.fetch_add(size, Ordering::Relaxed);
        for page in Self::pages(offset, size) {
            self.residents[page].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A slot is gone; answers the bytes that are still alive.
    fn move_out(&self, offset: usize, size: usize) -> usize {
        for page in Self::pages(offset, size) {
            self.residents[page].fetch_sub(1, Ordering::Relaxed);
        }
        self.live.fetch_sub(size, Ordering::AcqRel) - size
    }

    /// Gives those of `pages` back to the system on which nobody lives.
    fn sweep(&self, mapping: &Mapping, pages: Range<usize>) {
        let is_empty = |page: usize| self.residents[page].load(Ordering::Acquire) == 0;
        let mut page = pages.start;
        while page < pages.end {
            let start = page;
            while page < pages.end && is_empty(page) {
                page += 1;
            }
            if page > start {
                mapping.release(start * PAGE, (page - start) * PAGE);
            }
            page += 1;
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take().filter(|mapping| mapping.size == CHUNK) {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() < KEPT && IN_USE.load(Ordering::Relaxed) {
                spare.push(mapping);
            }
        }
    }
}

/// Hands out slots; one per reading thread.
#[derive(Default)]
pub(crate) struct Arena {
    current: Option<(Arc<Chunk>, usize)>,
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some((chunk, _)) = self.current.take() {
            chunk.full.store(true, Ordering::Relaxed);
        }
    }
}

/// Bytes that nobody else can reach.
pub(crate) struct Slot {
    memory: Memory,
    /// Bytes that may be filled, of which `len` are.
    room: usize,
    len: usize,
}

enum Memory {
    /// Of a mapping that outlives the call.
    Shared(Part),
    /// For a result that will be copied.
    Own(Box<[u8]>),
}

struct Part {
    chunk: Arc<Chunk>,
    offset: usize,
    /// Bytes taken from the chunk.
    size: usize,
}

impl Arena {
    /// A slot for `room` bytes, uninitialised in the sense that it may show earlier contents of files this process
    /// read; `None` if the system has no memory.
    pub(crate) fn slot(&mut self, room: usize) -> Option<Slot> {
        IN_USE.store(true, Ordering::Relaxed);
        let size = room.checked_next_multiple_of(LINE)?.max(LINE);
        if size > SHARED_LIMIT {
            let size = size.checked_next_multiple_of(PAGE)?;
            let mut chunk = Chunk::new(size, size >= CHUNK)?;
            chunk.shared = false;
            let chunk = Arc::new(chunk);
            return Some(Slot::shared(chunk, 0, size, room));
        }
        let fits = |&(_, used): &(Arc<Chunk>, usize)| used + size <= CHUNK;
        let (chunk, offset) = match self.current.take() {
            Some(current) if fits(&current) => current,
            before => {
                // The first chunk is of small pages: a program that reads few files should not pay for 2 MiB.
                let huge = before.is_some();
                if let Some((full, _)) = before {
                    full.full.store(true, Ordering::Relaxed);
                }
                (Arc::new(Chunk::new(CHUNK, huge)?), 0)
            }
        };
        chunk.move_in(offset, size);
        self.current = Some((Arc::clone(&chunk), offset + size));
        Some(Slot::shared(chunk, offset, size, room))
    }

    /// Gives back the empty mappings that were kept, and keeps none until a slot is wanted again.
    pub(crate) fn trim() {
        IN_USE.store(false, Ordering::Relaxed);
        HUGE_PAGES_ARE_SLOW.store(false, Ordering::Relaxed);
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Slot {
    fn shared(chunk: Arc<Chunk>, offset: usize, size: usize, room: usize) -> Self {
        let memory = Memory::Shared(Part {
            chunk,
            offset,
            size,
        });
        Self {
            memory,
            room,
            len: 0,
        }
    }

    /// A slot of ordinary memory. For one file at a time it is cheaper: it was in use a moment ago, and has its pages.
    pub(crate) fn own(room: usize) -> Self {
        Self {
            memory: Memory::Own(vec![0; room].into_boxed_slice()),
            room,
            len: 0,
        }
    }

    /// Whether a value should be made over this memory rather than a copy of it.
    pub(crate) fn worth_keeping(&self) -> bool {
        matches!(self.memory, Memory::Shared(_)) && self.len >= PAGE
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.memory {
            // SAFETY: the part has room for `len` bytes, mapped memory is initialised, only this owner reaches them.
            Memory::Shared(part) => unsafe { std::slice::from_raw_parts(part.base(), self.len) },
            Memory::Own(bytes) => &bytes[..self.len],
        }
    }

    /// The part that is still free.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        match &mut self.memory {
            // SAFETY: as above, up to `room`.
            Memory::Shared(part) => unsafe {
                std::slice::from_raw_parts_mut(part.base().add(self.len), self.room - self.len)
            },
            Memory::Own(bytes) => &mut bytes[self.len..],
        }
    }

    /// Says that `count` more bytes of the free part hold contents.
    pub(crate) fn filled(&mut self, count: usize) {
        self.len = (self.len + count).min(self.room);
    }

    /// Where the bytes are, for a value made over them; `None` for memory that is to be copied.
    pub(crate) fn shared_memory(&self) -> Option<*mut u8> {
        match &self.memory {
            Memory::Shared(part) => Some(part.base()),
            Memory::Own(_) => None,
        }
    }
}

impl Part {
    fn base(&self) -> *mut u8 {
        match &self.chunk.mapping {
            // SAFETY: offset and size lie inside the mapping.
            Some(mapping) => unsafe { mapping.base.as_ptr().add(self.offset) },
            None => NonNull::dangling().as_ptr(),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let chunk = &self.chunk;
        let Some(mapping) = chunk.mapping.as_ref().filter(|_| chunk.shared) else {
            return;
        };
        let live = chunk.move_out(self.offset, self.size);
        if live == 0 || live >= FEW || !chunk.full.load(Ordering::Relaxed) {
            return;
        }
        let pages = if chunk.swept.swap(true, Ordering::Relaxed) {
            Chunk::pages(self.offset, self.size)
        } else {
            0..CHUNK / PAGE
        };
        chunk.sweep(mapping, pages);
    }
}
