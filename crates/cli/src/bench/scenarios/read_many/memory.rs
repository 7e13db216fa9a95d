//! The resident set of this process, and the highest since it was reset, which Linux tells.
//!
//! <https://man7.org/linux/man-pages/man5/proc_pid_status.5.html>,
//! <https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html>

use crate::bench::runtime::protocol::Memory;
use crate::host::number;
use std::io;

/// Watches from [`Watch::start`] to [`Watch::stop`].
pub(super) struct Watch {
    before: u64,
}

impl Watch {
    pub(super) fn start() -> io::Result<Self> {
        std::fs::write("/proc/self/clear_refs", "5")?;
        Ok(Self {
            before: resident("VmRSS")?,
        })
    }

    pub(super) fn stop(self) -> io::Result<Memory> {
        Ok(Memory {
            before: self.before,
            peak: resident("VmHWM")?,
            after: resident("VmRSS")?,
        })
    }
}

fn resident(name: &str) -> io::Result<u64> {
    let kib = number("/proc/self/status".as_ref(), name);
    kib.ok_or_else(|| io::Error::other(format!("no {name} in /proc/self/status")))
}
