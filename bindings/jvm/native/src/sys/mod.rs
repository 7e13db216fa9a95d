//! What differs between systems.

#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;

pub(crate) use platform::{bytes_of, path_in, stay_loaded};
