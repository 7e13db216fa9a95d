//! The system calls, one file per family of systems, with the same functions in each.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;
mod rules;

pub(crate) use platform::{Stamp, look, read, split};
