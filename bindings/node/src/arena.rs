//! Memory for the contents of files on their way to JavaScript.
//!
//! A file's bytes are read straight into a slot of a large mapping, and the Buffer or external string made of them owns
//! that slot: no copy into the engine's heap, and a page fault per 2 MiB instead of one per 4 KiB where the system gives
//! huge pages. Slots never overlap, and each Buffer has an `ArrayBuffer` of its own length. A mapping goes back to the
//! system when its last slot is gone. When less than an eighth of it lives on, the pages of the dead ones go back:
//! earlier would split huge pages for slots whose neighbours are about to go as well.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Size of a shared mapping, that of a huge page on the processors this was measured on.
const CHUNK: usize = 2 << 20;
/// Larger contents get a mapping of their own.
const SHARED_LIMIT: usize = CHUNK / 4;
/// Slots of a page or more begin at a page, so that a dead one can give its pages back whatever its neighbours do.
/// Contents of less are copied into the engine's heap: that costs less than the finaliser of an external value.
const PAGE: usize = 4096;
/// Smaller slots are copied on delivery and gone at once; this keeps them off each other's cache lines.
const LINE: usize = 64;
/// Empty mappings kept for the next reads, their pages in place, until all threads rest.
const KEPT: usize = 32;
/// Slots alive in a chunk below which its dead pages go back to the system. In bytes.
const FEW: usize = CHUNK / 8;

static SPARE: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());

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
        #[cfg(target_os = "linux")]
        if huge {
            // SAFETY: advice on memory that is ours; it cannot fail in a way that matters.
            unsafe { libc::madvise(aligned as *mut _, size, libc::MADV_HUGEPAGE) };
        }
        Some(Self {
            base: NonNull::new(aligned as *mut u8)?,
            size,
        })
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
    /// Bytes in slots that are alive.
    live: AtomicUsize,
    /// No more slots will be cut from it.
    full: AtomicBool,
    /// Its dead pages have gone back to the system.
    swept: AtomicBool,
    /// A bit for each page of a slot that is gone.
    dead: [AtomicU64; CHUNK / PAGE / 64],
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
            live: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            swept: AtomicBool::new(false),
            dead: Default::default(),
        })
    }

    /// A slot of whole pages is gone.
    fn bury(&self, offset: usize, size: usize) {
        for page in offset / PAGE..(offset + size) / PAGE {
            self.dead[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        }
    }

    /// Gives all dead pages back to the system.
    fn sweep(&self, mapping: &Mapping) {
        let is_dead =
            |page: usize| self.dead[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 1;
        let mut page = 0;
        while page < CHUNK / PAGE {
            let start = page;
            while page < CHUNK / PAGE && is_dead(page) {
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
            if spare.len() < KEPT {
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
        let (size, align) = if room < PAGE {
            (room.next_multiple_of(LINE).max(LINE), LINE)
        } else {
            (room.checked_next_multiple_of(PAGE)?, PAGE)
        };
        if size > SHARED_LIMIT {
            let chunk = Arc::new(Chunk::new(size, size >= CHUNK)?);
            chunk.live.store(size, Ordering::Relaxed);
            return Some(Slot::shared(chunk, 0, size, room));
        }
        let fits = |&(_, used): &(Arc<Chunk>, usize)| used.next_multiple_of(align) + size <= CHUNK;
        let (chunk, used) = match self.current.take() {
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
        let offset = used.next_multiple_of(align);
        chunk.live.fetch_add(size, Ordering::Relaxed);
        self.current = Some((Arc::clone(&chunk), offset + size));
        Some(Slot::shared(chunk, offset, size, room))
    }

    /// Gives back the empty mappings that were kept.
    pub(crate) fn trim() {
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
        let live = chunk.live.fetch_sub(self.size, Ordering::AcqRel) - self.size;
        let shared = |mapping: &&Mapping| mapping.size == CHUNK;
        let Some(mapping) = chunk.mapping.as_ref().filter(shared) else {
            return;
        };
        if self.size < PAGE || live == 0 {
            return;
        }
        chunk.bury(self.offset, self.size);
        if live < FEW && chunk.full.load(Ordering::Relaxed) {
            if chunk.swept.swap(true, Ordering::Relaxed) {
                mapping.release(self.offset, self.size);
            } else {
                chunk.sweep(mapping);
            }
        }
    }
}
