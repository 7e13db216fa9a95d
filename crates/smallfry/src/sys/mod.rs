//! The system calls, and the only place in this crate that has any.
//!
//! `unix.rs` and `windows.rs` hold the same free functions with the same signatures; one of them is compiled.
//! `linux.rs` and `macos.rs` are the two variants of what differs among Unix systems.

#[cfg(not(any(unix, windows)))]
compile_error!("smallfry knows Unix and Windows only");

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub use platform::{
    AsFile, BorrowedFile, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC,
    O_WRONLY, OwnedFile, borrow, close, open, read, status, write,
};
pub(crate) use platform::{open_path, read_spare};
