//! `--disk`: a directory that behaves like a slow disk, made by the command `smallfry slow`, started here as a child.
//!
//! The child gets a process group of its own, so that Ctrl-C does not reach it: first the rows are ended, then it is asked to
//! end, which unmounts. It unmounts by itself when this process is killed.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use linux::Slow;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Slow;

/// The disk that the directory is on, as it is.
pub(super) const REAL: &str = "real";

/// The slow disk that adds nothing: what is left is the mount's own cost.
pub(super) const UNDELAYED: &str = "none";

/// The subcommand that mounts.
#[cfg(target_os = "linux")]
const COMMAND: &str = "slow";
