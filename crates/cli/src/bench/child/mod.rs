//! A child process, its end, and what it used: what `time` tells of a command.

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

use super::runtime::protocol::Usage;
use std::process::ExitStatus;

/// How it ended; of the usage, not the time by the clock.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) usage: Usage,
}
