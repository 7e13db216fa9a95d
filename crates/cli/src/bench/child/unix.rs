//! Where a parent is told what its child used.
//!
//! Whoever asks for that must also be the one who reaps: so the standard library's handle stays inside.

use super::{End, Usage};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Not reaped before [`Child::try_wait`] says so, so that until then its number is nobody else's.
pub(in crate::bench) struct Child {
    child: std::process::Child,
    end: Option<End>,
}

impl Child {
    pub(in crate::bench) fn new(child: std::process::Child) -> Self {
        Self { child, end: None }
    }

    pub(in crate::bench) fn kill(&mut self) {
        if self.end.is_none() {
            // An error means that it has ended already.
            let _ = self.child.kill();
        }
    }

    /// Asks it to end: SIGTERM.
    pub(in crate::bench) fn terminate(&mut self) {
        if self.end.is_none() {
            // SAFETY: no memory is involved; the number is that of a child which has not been reaped.
            unsafe { libc::kill(self.pid(), libc::SIGTERM) };
        }
    }

    /// `wait4`: <https://man7.org/linux/man-pages/man2/wait4.2.html>.
    pub(in crate::bench) fn try_wait(&mut self) -> Option<End> {
        if self.end.is_none() {
            let mut status = 0;
            // SAFETY: an all-zero rusage is a valid one; it is plain numbers.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            let pid = self.pid();
            // SAFETY: both pointers are to whole values that live across the call.
            let reaped =
                unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
            self.end = (reaped == pid).then(|| End {
                status: ExitStatus::from_raw(status),
                usage: usage_of(&usage),
            });
        }
        self.end
    }

    /// To wait without holding on to the child.
    pub(in crate::bench) fn waiting(&self) -> Waiting {
        Waiting(self.end.is_none().then(|| self.pid()))
    }

    fn pid(&self) -> libc::pid_t {
        libc::pid_t::try_from(self.child.id()).unwrap_or(libc::pid_t::MAX)
    }
}

pub(in crate::bench) struct Waiting(Option<libc::pid_t>);

impl Waiting {
    /// Until it has ended, without reaping it. `waitid`: <https://man7.org/linux/man-pages/man2/waitid.2.html>.
    pub(in crate::bench) fn wait(&self) {
        let Some(pid) = self.0 else { return };
        loop {
            // SAFETY: an all-zero siginfo_t is a valid one; it is plain numbers.
            let mut told: libc::siginfo_t = unsafe { std::mem::zeroed() };
            // SAFETY: the pointer is to a whole siginfo_t that lives across the call.
            let result = unsafe {
                libc::waitid(
                    libc::P_PID,
                    pid.unsigned_abs(),
                    &raw mut told,
                    libc::WEXITED | libc::WNOWAIT,
                )
            };
            let interrupted =
                || std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
            if result == 0 || !interrupted() {
                return;
            }
        }
    }
}

/// Without the time by the clock.
pub(in crate::bench) fn usage_of(usage: &libc::rusage) -> Usage {
    let ns = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
    };
    // Linux counts KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    Usage {
        wall_ns: 0,
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0) / unit,
    }
}
