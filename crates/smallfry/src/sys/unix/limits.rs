//! Unix: limits of the process.

use std::mem::MaybeUninit;

/// Returns how many files this process may have open at once.
///
/// `getrlimit(RLIMIT_NOFILE)`,
/// [getrlimit(2)](https://man7.org/linux/man-pages/man2/getrlimit.2.html)
pub(crate) fn descriptor_limit() -> usize {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the structure is large enough and borrowed for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) } != 0 {
        return usize::MAX;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    usize::try_from(unsafe { limit.assume_init() }.rlim_cur).unwrap_or(usize::MAX)
}
