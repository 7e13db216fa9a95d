//! Windows: a thread's own clock.

use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadTimes};

/// The unit of a `FILETIME`, in nanoseconds.
const TICK: u64 = 100;

/// Returns the processor time of the calling thread, in user code and in the kernel, in steps of
/// the scheduler's clock (up to 16 ms). It is zero if the system does not tell.
///
/// [GetThreadTimes](https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadtimes)
pub fn thread_cpu_time() -> Duration {
    let zero = FILETIME {
        dwLowDateTime: 0,
        dwHighDateTime: 0,
    };
    let (mut created, mut exited, mut kernel, mut user) = (zero, zero, zero, zero);
    // SAFETY: the pseudo-handle of the calling thread is always valid, and the structures are
    // borrowed for writing.
    let done = unsafe {
        GetThreadTimes(
            GetCurrentThread(),
            &raw mut created,
            &raw mut exited,
            &raw mut kernel,
            &raw mut user,
        )
    };
    if done == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos((ticks(kernel) + ticks(user)) * TICK)
}

const fn ticks(time: FILETIME) -> u64 {
    (time.dwHighDateTime as u64) << 32 | time.dwLowDateTime as u64
}

/// Returns `None`: Windows does not count why a thread was switched.
pub(crate) const fn times_waited() -> Option<std::ffi::c_long> {
    None
}

/// Does nothing: Windows itself prefers threads that were waiting.
pub(crate) fn lower_priority() {}

/// Returns false: Windows has no `fork`.
pub(crate) const fn is_forked() -> bool {
    false
}
