//! Processor time and memory of this process.

use crate::bench::runtime::protocol::Usage;
use std::time::Instant;

/// Counts from [`Meter::start`] to [`Meter::stop`].
pub(crate) struct Meter {
    started: Instant,
    before: Usage,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self {
            before: so_far(),
            started: Instant::now(),
        }
    }

    pub(crate) fn stop(self) -> Usage {
        let wall_ns = nanoseconds(self.started.elapsed());
        let now = so_far();
        Usage {
            wall_ns,
            user_ns: now.user_ns - self.before.user_ns,
            sys_ns: now.sys_ns - self.before.sys_ns,
            peak_kib: now.peak_kib,
        }
    }
}

pub(crate) fn nanoseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// `getrusage(RUSAGE_SELF)`: <https://man7.org/linux/man-pages/man2/getrusage.2.html>.
#[cfg(unix)]
fn so_far() -> Usage {
    // SAFETY: an all-zero rusage is a valid one; it is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole rusage that lives across the call.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } != 0 {
        return Usage::default();
    }
    crate::bench::child::usage_of(&usage)
}

/// Returns zero, since the usage is not known here.
#[cfg(not(unix))]
fn so_far() -> Usage {
    Usage::default()
}
