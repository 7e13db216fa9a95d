//! Where pages are not handled one by one: zeroed memory of the allocator.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::sys::PAGE;

/// What [`Mapping::release`] could give back at the least.
pub(crate) const fn page_size() -> usize {
    PAGE
}

/// Memory of its own: zeroed and page-aligned.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a mapping is plain memory; whoever makes references into it answers for their not overlapping.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// `size` bytes, not 0; `None` if the system has no memory.
    pub(crate) fn new(size: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size.max(PAGE), PAGE).ok()?;
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { base, layout })
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// The system chooses the size of pages itself.
    pub(crate) fn touch_huge_page(&self) {}

    /// The allocator keeps them.
    pub(crate) fn release(&self, _offset: usize, _size: usize) {}
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made with this layout by the same allocator, and its last owner is going.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
