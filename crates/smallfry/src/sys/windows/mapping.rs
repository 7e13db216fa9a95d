//! Windows: zeroed memory of the allocator, whose pages are not handled one by one.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::sys::PAGE;

/// Returns the size of a page, in bytes.
pub(crate) const fn page_size() -> usize {
    PAGE
}

/// Memory of its own: zeroed and page-aligned.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a mapping is plain memory. Code that makes references into it answers for their not
// overlapping.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Allocates `size` bytes, or a page if that is more. `None` if the system has no memory.
    pub(crate) fn new(size: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size.max(PAGE), PAGE).ok()?;
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { base, layout })
    }

    /// Returns its first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Does nothing: the system chooses the size of pages itself.
    pub(crate) fn touch_huge_page(&self) {}

    /// Does nothing: the allocator keeps the pages.
    pub(crate) fn release(&self, _offset: usize, _size: usize) {}
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the same allocator made it with this layout, and its last owner is being dropped.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
