//! What differs between systems: `unix.rs` and `windows.rs` hold the same items, and one of them is compiled.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub(crate) use platform::{
    Descriptor, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENDS_THREADS, ENOMEM, ENOTDIR, at_exit,
    borrowed_path, connect, is_for_runtime, is_refused_directory, node_errno, path_of, pin_library,
    symbol,
};
