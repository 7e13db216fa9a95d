//! The differences between systems: `unix.rs` and `windows.rs` have the same items, and one of them
//! is compiled.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub(crate) mod metadata;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub(crate) use platform::{Cached, look_up};
#[cfg(unix)]
pub(crate) use platform::{DIRECTORY, LINK, Names, UNKNOWN, is_directory};
pub(crate) use platform::{
    Descriptor, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENDS_THREADS, ENOMEM, ENOTDIR, at_exit,
    borrowed_path, connect, is_for_runtime, is_plain, is_refused_directory, node_errno, path_in,
    perform, pin_library, symbol,
};

/// Copies a path that JavaScript has passed as UTF-8.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    path_in(bytes).into_owned()
}
