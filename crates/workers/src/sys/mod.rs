//! The system calls about threads. No other module of this crate makes any.
//!
//! `unix.rs` and `windows.rs` hold the same functions; one of them is compiled.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread;

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub use platform::thread_cpu_time;
pub(crate) use platform::{lower_priority, times_waited};

/// Returns how many threads can run at once: the processors that this process may use, or fewer if
/// its control group has a quota. Returns 1 if the system does not tell.
///
/// The answer is found once, since Linux reads several files for it. Later changes are not seen.
///
/// [`thread::available_parallelism`] calls `sched_getaffinity`, `sysctl` or `GetSystemInfo`,
/// and reads
/// [cgroup v2, `cpu.max`](https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files).
pub fn available_cores() -> NonZeroUsize {
    static CORES: OnceLock<NonZeroUsize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}
