//! A child process, its end and its usage, as `time` tells them.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::Child;
#[cfg(unix)]
pub(super) use unix::Child;
#[cfg(unix)]
pub(super) use unix::usage_of;
#[cfg(unix)]
pub(crate) use unix::{reap, until_ended};

use serde::{Deserialize, Serialize};
use std::process::ExitStatus;

/// The end of a child; the usage has no time by the clock.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) usage: Usage,
}

/// The times of a whole run. Processor times include untimed work (unlinking, truncating).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) wall_ns: u64,
    pub(crate) user_ns: u64,
    pub(crate) sys_ns: u64,
    /// The highest resident set of the process so far, in KiB.
    pub(crate) peak_kib: u64,
}
