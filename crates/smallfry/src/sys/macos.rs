//! macOS, and the BSDs: file sizes are always of 64 bits.

pub(super) use libc::{fstat, open};

/// The most that one read or write is asked for. macOS refuses more than `INT_MAX` with `EINVAL` instead of taking a
/// part.
///
/// [write(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html)
pub(super) const MOST_PER_CALL: usize = libc::c_int::MAX as usize - 1;
