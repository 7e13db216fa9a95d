//! Anonymous private mappings.

use std::ptr::NonNull;

use crate::sys::{HUGE_PAGE, PAGE};

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
    /// `mmap`: `size` bytes, a multiple of [`PAGE`]; aligned to [`HUGE_PAGE`] from that size on. `None` if the system
    /// has no memory.
    ///
    /// [mmap(2)](https://man7.org/linux/man-pages/man2/mmap.2.html)
    pub(crate) fn new(size: usize) -> Option<Self> {
        // A huge page needs its alignment: ask for more, give back what is over.
        let align = if size >= HUGE_PAGE { HUGE_PAGE } else { PAGE };
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

    /// `madvise(MADV_DONTNEED)`: gives `size` bytes of whole pages at `offset` back to the system. Nothing may live there.
    ///
    /// [madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)
    pub(crate) fn release(&self, offset: usize, size: usize) {
        debug_assert!(offset + size <= self.size);
        // SAFETY: the range is inside this mapping and page-aligned, and its owner says that nothing lives there.
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
