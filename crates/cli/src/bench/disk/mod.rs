//! `--disk`: a directory that behaves like a slow disk, served by a child process, `smallfry slow`.
//!
//! The child has a process group of its own, so that Ctrl-C does not reach it: first the rows are
//! ended, then the child is asked to end, which unmounts. It unmounts by itself when this process
//! is killed.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use linux::Slow;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Slow;

/// The profile of the disk as it is.
pub(super) const REAL: &str = "real";

/// The slow disk that adds no delay: the mount's own cost is left.
pub(super) const UNDELAYED: &str = "none";

/// The subcommand that mounts.
#[cfg(target_os = "linux")]
const COMMAND: &str = "slow";
