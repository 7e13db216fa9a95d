//! Systems that tell a parent what its child used.
//!
//! The code that asks for the usage must also reap the child, so the standard library's handle is
//! private.

use super::{End, Usage};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A child that is not reaped before [`Child::try_wait`] says so: until then its process id stays
/// its own.
pub(in crate::bench) struct Child {
    child: std::process::Child,
    end: Option<End>,
}

impl Child {
    pub(in crate::bench) fn new(child: std::process::Child) -> Self {
        Self { child, end: None }
    }

    pub(in crate::bench) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(in crate::bench) fn kill(&mut self) {
        if self.end.is_none() {
            // An error means that it has ended already.
            let _ = self.child.kill();
        }
    }

    /// Sends SIGTERM.
    #[cfg(target_os = "linux")]
    pub(in crate::bench) fn terminate(&mut self) {
        if self.end.is_none() {
            // SAFETY: no memory is involved; the number is that of a child which has not been
            // reaped.
            unsafe { libc::kill(self.pid(), libc::SIGTERM) };
        }
    }

    /// Returns how the child ended, if it has.
    pub(in crate::bench) fn try_wait(&mut self) -> Option<End> {
        if self.end.is_none() {
            // An error means that there is no such child, of which there is nothing to tell.
            self.end = reap(self.pid(), libc::WNOHANG).ok().flatten();
        }
        self.end
    }

    /// Returns a handle to wait with, without borrowing the child.
    pub(in crate::bench) fn waiting(&self) -> Waiting {
        Waiting(self.end.is_none().then(|| self.pid()))
    }

    fn pid(&self) -> libc::pid_t {
        libc::pid_t::try_from(self.child.id()).unwrap_or(libc::pid_t::MAX)
    }
}

pub(in crate::bench) struct Waiting(Option<libc::pid_t>);

impl Waiting {
    /// Waits until the child has ended, without reaping it.
    pub(in crate::bench) fn wait(&self) {
        if let Some(pid) = self.0 {
            // An error means that it has ended already.
            let _ = until_ended(pid);
        }
    }
}

/// Waits until the child has ended, without reaping it. Fails if there is no such child.
///
/// `waitid(WNOWAIT)`: <https://man7.org/linux/man-pages/man2/waitid.2.html>.
pub(crate) fn until_ended(child: libc::pid_t) -> Result<()> {
    loop {
        // SAFETY: an all-zero siginfo_t is a valid one; it is plain numbers.
        let mut told: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a whole siginfo_t that lives across the call.
        let result = unsafe {
            libc::waitid(
                libc::P_PID,
                child.unsigned_abs(),
                &raw mut told,
                libc::WEXITED | libc::WNOWAIT,
            )
        };
        if result == 0 {
            return Ok(());
        }
        retry_if_interrupted()?;
    }
}

/// Reaps the child, and returns how it ended and what it and its own children used. `None`, with
/// the flag `WNOHANG`, while it runs. Fails if there is no such child.
///
/// `wait4`: <https://man7.org/linux/man-pages/man2/wait4.2.html>.
pub(crate) fn reap(child: libc::pid_t, flags: libc::c_int) -> Result<Option<End>> {
    loop {
        let mut status = 0;
        // SAFETY: an all-zero rusage is a valid one; it is plain numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to whole values that live across the call.
        match unsafe { libc::wait4(child, &raw mut status, flags, &raw mut usage) } {
            0 => return Ok(None),
            -1 => retry_if_interrupted()?,
            _ => {
                return Ok(Some(End {
                    status: ExitStatus::from_raw(status),
                    usage: usage_of(&usage),
                }));
            }
        }
    }
}

fn retry_if_interrupted() -> Result<()> {
    let error = Error::last_os_error();
    if error.kind() == ErrorKind::Interrupted {
        Ok(())
    } else {
        Err(error)
    }
}

/// Returns the usage, without the time by the clock.
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
