//! Unix: limits of the process.

use rustix::process::{Resource, getrlimit};

/// Returns how many files this process may have open at once.
///
/// `getrlimit(RLIMIT_NOFILE)`,
/// [getrlimit(2)](https://man7.org/linux/man-pages/man2/getrlimit.2.html)
pub(crate) fn descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(usize::MAX)
}
