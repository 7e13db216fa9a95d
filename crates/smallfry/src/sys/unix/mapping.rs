//! Anonymous private mappings.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::sys::{HUGE_PAGE, PAGE};

/// `sysconf(_SC_PAGESIZE)`: what the system gives and takes back at the least, in bytes. 4 KiB on most machines, 16 or
/// 64 KiB on some. Asked once.
///
/// [sysconf(3)](https://man7.org/linux/man-pages/man3/sysconf.3.html)
pub(crate) fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: has no preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).map_or(PAGE, |size| size.max(PAGE))
    })
}

/// The whole pages that lie between two offsets, which may be none.
fn whole_pages(range: Range<usize>, page: usize) -> Range<usize> {
    range.start.next_multiple_of(page)..range.end / page * page
}

/// Memory of its own: zeroed, page-aligned, and touched by nobody until its first use.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is plain memory; whoever makes references into it answers for their not overlapping.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// `mmap`: `size` bytes and what is left of the last page; aligned to [`HUGE_PAGE`] from that size on. `None` if the
    /// system has no memory.
    ///
    /// [mmap(2)](https://man7.org/linux/man-pages/man2/mmap.2.html)
    pub(crate) fn new(size: usize) -> Option<Self> {
        let page = page_size();
        let size = size.checked_next_multiple_of(page)?;
        // A huge page needs its alignment: ask for more, give back what is over.
        let align = if size >= HUGE_PAGE { HUGE_PAGE } else { page };
        let wanted = size.checked_add(align - page)?;
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
        Some(Self {
            base: NonNull::new(aligned as *mut u8)?,
            size,
        })
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Asks for huge pages, and touches the first to see how long one takes to come. A system without them ignores it.
    ///
    /// [madvise(2), MADV_HUGEPAGE](https://man7.org/linux/man-pages/man2/madvise.2.html)
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn touch_huge_page(&self) {
        // SAFETY: advice on memory that is ours, and a first byte written to it that no reference covers yet.
        unsafe {
            libc::madvise(self.base.as_ptr().cast(), self.size, libc::MADV_HUGEPAGE);
            self.base.as_ptr().write_volatile(0);
        }
    }

    /// Other Unix systems choose the size of pages themselves.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn touch_huge_page(&self) {}

    /// `madvise(MADV_DONTNEED)`: gives the whole pages among `size` bytes at `offset` back to the system. Nothing may live
    /// there.
    ///
    /// The system itself would round the end up, over what lives behind it.
    ///
    /// [madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)
    pub(crate) fn release(&self, offset: usize, size: usize) {
        debug_assert!(offset + size <= self.size);
        let pages = whole_pages(offset..offset + size, page_size());
        if pages.is_empty() {
            return;
        }
        // SAFETY: the range is inside this mapping and page-aligned, and its owner says that nothing lives there.
        unsafe {
            libc::madvise(
                self.base.as_ptr().add(pages.start).cast(),
                pages.len(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_go_back() {
        const K: usize = 1 << 10;
        for (range, page, whole) in [
            (4 * K..8 * K, 4 * K, 4 * K..8 * K),
            (0..2048 * K, 64 * K, 0..2048 * K),
            // The neighbours on both sides stay.
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
    fn what_lives_beside_the_released_stays() {
        let page = page_size();
        let mapping = Mapping::new(4 * page - 1).unwrap();
        let base = mapping.base().as_ptr();
        // SAFETY: four whole pages were mapped.
        unsafe { base.write_bytes(1, 4 * page) };
        mapping.release(PAGE / 2, 2 * page);
        // SAFETY: these offsets are inside them, and zero if not written.
        let there = |offset: usize| unsafe { base.add(offset).read_volatile() };
        assert_eq!([0, page - 1, 2 * page, 4 * page - 1].map(there), [1; 4]);
        if cfg!(target_os = "linux") {
            assert_eq!([page, 2 * page - 1].map(there), [0; 2]);
        }
    }
}
