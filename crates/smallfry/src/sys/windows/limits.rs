//! Windows: limits of the process.

/// Returns how many files this process may have open at once: only memory bounds the handles.
pub(crate) fn descriptor_limit() -> usize {
    usize::MAX
}
