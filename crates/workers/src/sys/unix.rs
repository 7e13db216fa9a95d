//! Unix: a thread's own clock and priority.

use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, DynamicClockId, clock_gettime_dynamic};

/// Returns the processor time of the calling thread, in user code and in the kernel. It is zero on
/// a system that does not tell.
///
/// `clock_gettime(CLOCK_THREAD_CPUTIME_ID)`,
/// [clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
pub fn thread_cpu_time() -> Duration {
    let clock = DynamicClockId::Known(ClockId::ThreadCPUTime);
    clock_gettime_dynamic(clock)
        .ok()
        .and_then(|time| Duration::try_from(time).ok())
        .unwrap_or_default()
}

/// Returns how often the calling thread gave up its processor because it waited for something, not
/// because another thread was to run. It is `None` on a system that does not tell.
///
/// `getrusage(RUSAGE_THREAD)`,
/// [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)
pub(crate) fn times_waited() -> Option<c_long> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use std::mem::MaybeUninit;

        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the structure is large enough and borrowed for writing.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } == 0 {
            // SAFETY: the call succeeded, so it has filled the structure.
            return Some(unsafe { usage.assume_init() }.ru_nvcsw);
        }
    }
    None
}

/// Lowers the priority of the calling thread, so that other threads of the process run first. A
/// lower priority stays. Only Linux has priorities per thread; elsewhere nothing happens.
///
/// With two workers and an event loop on two processors, the loop waits up to 8 ms for its turn
/// instead of 12 ms, and the batch takes the same time.
///
/// `getpriority`, `setpriority`,
/// [setpriority(2), NOTES](https://man7.org/linux/man-pages/man2/setpriority.2.html)
pub(crate) fn lower_priority() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::process::{getpriority_process, setpriority_process};

        // On Linux `None`, the calling process, is the calling thread. Lowering is always allowed.
        if getpriority_process(None).is_ok_and(|priority| priority < LESS_URGENT) {
            let _ = setpriority_process(None, LESS_URGENT);
        }
    }
}

/// This nice value gives a thread a third of the processor time of a thread with the usual one.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LESS_URGENT: i32 = 5;

/// Returns true in the child of a `fork`, if this was called before that.
///
/// `pthread_atfork`,
/// [pthread_atfork(3)](https://man7.org/linux/man-pages/man3/pthread_atfork.3.html)
pub(crate) fn is_forked() -> bool {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    static IS_FORKED: AtomicBool = AtomicBool::new(false);
    extern "C" fn in_child() {
        IS_FORKED.store(true, Ordering::Relaxed);
    }
    if !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the function lives as long as the process.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    IS_FORKED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::thread;

    #[test]
    fn thread_cpu_time_counts_work_and_not_waiting() {
        let start = thread_cpu_time();
        let mut sum = 0_u64;
        while thread_cpu_time() < start + Duration::from_millis(5) {
            sum = black_box(sum).wrapping_add(1);
        }
        thread::spawn(move || {
            // Each thread has its own clock.
            assert!(thread_cpu_time() < Duration::from_secs(3600));
            let start = thread_cpu_time();
            thread::sleep(Duration::from_millis(200));
            assert!(thread_cpu_time() < start + Duration::from_millis(200));
        })
        .join()
        .unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn times_waited_counts_a_sleep() {
        let before = times_waited().unwrap();
        thread::sleep(Duration::from_millis(1));
        assert!(times_waited().unwrap() > before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lower_priority_never_raises_it() {
        use rustix::process::{getpriority_process, setpriority_process};

        for (before, after) in [(3, LESS_URGENT), (LESS_URGENT, LESS_URGENT), (15, 15)] {
            let found = thread::spawn(move || {
                let urgency = getpriority_process(None).unwrap();
                setpriority_process(None, before.max(urgency)).unwrap();
                lower_priority();
                (urgency, getpriority_process(None).unwrap())
            });
            let (urgency, found) = found.join().unwrap();
            assert_eq!(found, after.max(urgency));
        }
    }
}
