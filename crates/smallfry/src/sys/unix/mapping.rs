//! Unix: anonymous private mappings.

use std::ops::Range;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::sys::{HUGE_PAGE, PAGE};

/// Returns the size of the smallest piece of memory that the system gives and takes back, in bytes.
/// It is 4 KiB on most machines, and 16 or 64 KiB on some.
///
/// `sysconf(_SC_PAGESIZE)`, [sysconf(3)](https://man7.org/linux/man-pages/man3/sysconf.3.html)
pub(crate) fn page_size() -> usize {
    rustix::param::page_size().max(PAGE)
}

/// The advice for pages whose contents are lost. POSIX's own, on Linux, would keep them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DONT_NEED: Advice = Advice::LinuxDontNeed;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DONT_NEED: Advice = Advice::DontNeed;

/// Returns the whole pages between two offsets. There may be none.
fn whole_pages(range: Range<usize>, page: usize) -> Range<usize> {
    range.start.next_multiple_of(page)..range.end / page * page
}

/// Memory of its own: zeroed and page-aligned. The system provides each page at its first use.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is plain memory. Code that makes references into it answers for their not
// overlapping.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `size` bytes and the rest of the last page. A mapping of [`HUGE_PAGE`] or more is
    /// aligned to that. `None` if the system has no memory.
    ///
    /// `mmap`, [mmap(2)](https://man7.org/linux/man-pages/man2/mmap.2.html)
    pub(crate) fn new(size: usize) -> Option<Self> {
        let page = page_size();
        let size = size.checked_next_multiple_of(page)?;
        // A huge page needs its alignment, so ask for more and give the rest back.
        let align = if size >= HUGE_PAGE { HUGE_PAGE } else { page };
        let wanted = size.checked_add(align - page)?;
        // SAFETY: a new anonymous mapping touches no existing memory.
        let base = unsafe {
            mmap_anonymous(
                null_mut(),
                wanted,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let start = base.ok()? as usize;
        let aligned = start.next_multiple_of(align);
        unmap(start, aligned);
        unmap(aligned + size, start + wanted);
        Some(Self {
            base: NonNull::new(aligned as *mut u8)?,
            size,
        })
    }

    /// Returns its first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Asks for huge pages, and touches the first so that the caller can measure how long one
    /// takes. A system without huge pages ignores it.
    ///
    /// `madvise(MADV_HUGEPAGE)`, [madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn touch_huge_page(&self) {
        let base = self.base.as_ptr();
        // SAFETY: the memory is this mapping's, and no reference covers its first byte yet.
        unsafe {
            let _ = madvise(base.cast(), self.size, Advice::LinuxHugepage);
            base.write_volatile(0);
        }
    }

    /// Does nothing: other Unix systems choose the size of pages themselves.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn touch_huge_page(&self) {}

    /// Gives the whole pages among `size` bytes at `offset` back to the system. Nothing may live
    /// there.
    ///
    /// The system itself would round the end up, over bytes that are in use.
    ///
    /// `madvise(MADV_DONTNEED)`, [madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)
    pub(crate) fn release(&self, offset: usize, size: usize) {
        debug_assert!(offset + size <= self.size);
        let pages = whole_pages(offset..offset + size, page_size());
        if pages.is_empty() {
            return;
        }
        // SAFETY: the range is inside this mapping and page-aligned, and its owner says that
        // nothing lives there.
        let _ = unsafe {
            let start = self.base.as_ptr().add(pages.start);
            madvise(start.cast(), pages.len(), DONT_NEED)
        };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.base.as_ptr() as usize;
        unmap(start, start + self.size);
    }
}

/// Gives the memory between two addresses back to the system. Both are page-aligned and inside one
/// mapping, and nothing uses the memory any more.
///
/// `munmap`, [munmap(2)](https://man7.org/linux/man-pages/man2/mmap.2.html)
fn unmap(from: usize, to: usize) {
    if to > from {
        // SAFETY: the callers give parts of a mapping that they own, of which no reference is left.
        let _ = unsafe { munmap(from as *mut _, to - from) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_keeps_the_neighbours_on_both_sides() {
        const K: usize = 1 << 10;
        for (range, page, whole) in [
            (4 * K..8 * K, 4 * K, 4 * K..8 * K),
            (0..2048 * K, 64 * K, 0..2048 * K),
            (4 * K..252 * K, 64 * K, 64 * K..192 * K),
            (60 * K..132 * K, 64 * K, 64 * K..128 * K),
            (12 * K..36 * K, 16 * K, 16 * K..32 * K),
        ] {
            assert_eq!(whole_pages(range, page), whole);
        }
        for range in [0..4 * K, 60 * K..64 * K, 4 * K..124 * K, 64 * K..64 * K] {
            assert!(whole_pages(range, 64 * K).is_empty());
        }
    }

    #[test]
    fn release_keeps_bytes_beside_the_released_pages() {
        let page = page_size();
        let mapping = Mapping::new(4 * page - 1).unwrap();
        let base = mapping.base().as_ptr();
        // SAFETY: four whole pages were mapped.
        unsafe { base.write_bytes(1, 4 * page) };
        mapping.release(PAGE / 2, 2 * page);
        // SAFETY: these offsets are inside the pages, and zero if not written.
        let there = |offset: usize| unsafe { base.add(offset).read_volatile() };
        assert_eq!([0, page - 1, 2 * page, 4 * page - 1].map(there), [1; 4]);
        if cfg!(target_os = "linux") {
            assert_eq!([page, 2 * page - 1].map(there), [0; 2]);
        }
    }
}
