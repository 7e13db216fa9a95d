//! Linux: file sizes of 64 bits have calls of their own on 32-bit machines.

pub(super) use libc::{fstat64 as fstat, open64 as open};

/// The most that one read or write is asked for. The kernel itself stops a little below 2 GiB and says so by a short count.
///
/// [write(2), NOTES](https://man7.org/linux/man-pages/man2/write.2.html)
pub(super) const MOST_PER_CALL: usize = isize::MAX as usize;
