//! Processor time and memory of this process.

use crate::bench::runtime::protocol::Usage;
pub(crate) use crate::process::child::nanoseconds;
#[cfg(unix)]
use nix::sys::resource::{UsageWho, getrusage};
#[cfg(unix)]
use nix::sys::time::{TimeVal, TimeValLike};
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

/// `getrusage(RUSAGE_SELF)`: <https://man7.org/linux/man-pages/man2/getrusage.2.html>.
fn so_far() -> Usage {
    #[cfg(unix)]
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
        let ns = |time: TimeVal| time.num_nanoseconds().unsigned_abs();
        // Linux counts KiB, macOS bytes.
        let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
        return Usage {
            wall_ns: 0,
            user_ns: ns(usage.user_time()),
            sys_ns: ns(usage.system_time()),
            peak_kib: usage.max_rss().unsigned_abs() / unit,
        };
    }
    // Not known, or not on this system.
    Usage::default()
}
