//! Unix: what bounds threads, and a thread's own clock.

use std::ffi::c_long;
use std::mem::MaybeUninit;
use std::time::Duration;

/// `clock_gettime(CLOCK_THREAD_CPUTIME_ID)`: the time for which the calling thread has been running on a processor, in
/// user code and in the kernel. Zero on a system that does not tell.
///
/// [clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
pub(crate) fn thread_cpu_time() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the structure is large enough and borrowed for writing.
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr()) } != 0 {
        return Duration::ZERO;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let time = unsafe { time.assume_init() };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// `getrusage(RUSAGE_THREAD)`: how often the calling thread has given its processor up because it had to wait for something, and not because
/// another one was to have it. `None` on a system that does not tell.
///
/// [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)
pub(crate) fn times_waited() -> Option<c_long> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the structure is large enough and borrowed for writing.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } == 0 {
            // SAFETY: the call succeeded, so it has filled the structure.
            return Some(unsafe { usage.assume_init() }.ru_nvcsw);
        }
    }
    None
}

/// `getpriority`, `setpriority`: lets other threads of this process go first where there are more than processors. A
/// thread that is less urgent already stays so. Linux has priorities per thread; elsewhere nothing happens.
///
/// Two workers and an event loop on two processors: with equal priorities the loop waits for its turn up to 12 ms, with
/// this 8 ms, and all is read in the same time.
///
/// [setpriority(2), NOTES](https://man7.org/linux/man-pages/man2/setpriority.2.html)
pub(crate) fn give_precedence() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: plain system calls. On Linux 0 means the calling thread; to be less urgent is always allowed.
    unsafe {
        if libc::getpriority(libc::PRIO_PROCESS, 0) < LESS_URGENT {
            libc::setpriority(libc::PRIO_PROCESS, 0, LESS_URGENT);
        }
    }
}

/// A third of the processor time that a thread of the usual priority gets beside it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LESS_URGENT: i32 = 5;

/// `getrlimit(RLIMIT_NOFILE)`: how many files this process may have open at once.
///
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::thread;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let start = thread_cpu_time();
        let mut sum = 0_u64;
        while thread_cpu_time() < start + Duration::from_millis(5) {
            sum = black_box(sum).wrapping_add(1);
        }
        thread::spawn(move || {
            // Another thread has a clock of its own.
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
    fn who_sleeps_has_waited() {
        let before = times_waited().unwrap();
        thread::sleep(Duration::from_millis(1));
        assert!(times_waited().unwrap() > before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_becomes_more_urgent() {
        for (before, after) in [(3, LESS_URGENT), (LESS_URGENT, LESS_URGENT), (15, 15)] {
            let found = thread::spawn(move || {
                // SAFETY: plain system calls about the calling thread.
                unsafe {
                    let urgency = libc::getpriority(libc::PRIO_PROCESS, 0);
                    libc::setpriority(libc::PRIO_PROCESS, 0, before.max(urgency));
                    give_precedence();
                    (urgency, libc::getpriority(libc::PRIO_PROCESS, 0))
                }
            });
            let (urgency, found) = found.join().unwrap();
            assert_eq!(found, after.max(urgency));
        }
    }
}
