//! The system calls about threads. No other module of this crate makes any.
//!
//! `unix.rs` and `windows.rs` hold the same functions; one of them is compiled.

#![allow(unsafe_code, reason = "it calls the system")]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub use platform::thread_cpu_time;
pub(crate) use platform::{is_forked, lower_priority, times_waited};

/// Returns how many threads can run at once: the processors that this process may use, or fewer if
/// its control group has a quota. Returns 1 if the system does not tell.
///
/// The answer is kept, since Linux reads several files for it. Later changes are not seen.
///
/// [`thread::available_parallelism`] calls `sched_getaffinity`, `sysctl` or `GetSystemInfo`,
/// and reads
/// [cgroup v2, `cpu.max`](https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files).
pub fn available_cores() -> NonZeroUsize {
    // No `OnceLock`: the child of a fork would wait for ever for another thread that was asking.
    static CORES: AtomicUsize = AtomicUsize::new(0);
    if let Some(known) = NonZeroUsize::new(CORES.load(Ordering::Relaxed)) {
        return known;
    }
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    CORES.store(cores.get(), Ordering::Relaxed);
    cores
}
