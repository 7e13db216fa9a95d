//! Bare calls for front ends: no allocation, no path in the error, everything inlinable.
//!
//! Use these functions in a binding for another language, which has its own path encoding, error
//! objects and buffers. Use [`fs`](crate::fs) in a Rust program: it sits on these functions.
//!
//! | call | what it takes care of |
//! |---|---|
//! | [`open`] | child processes never inherit the file; an interrupted call is repeated |
//! | [`write_all`] | partial writes go on, interrupted ones are repeated, a write of no bytes is an error |
//! | [`read`] | interrupted calls are repeated; the buffer may be uninitialised |
//! | [`status`] | size and kind of an open file |
//! | [`close`] | returns its error and never repeats: the descriptor is gone either way |
//!
//! Handles are the standard library's: an [`OwnedFile`] is `OwnedFd` or `OwnedHandle`, a
//! [`BorrowedFile`] is `BorrowedFd` or `BorrowedHandle`. A front end that is given a number makes a
//! [`BorrowedFile`] of it with the standard library's `borrow_raw`.
//!
//! ```
//! use smallfry::raw;
//!
//! # fn main() -> Result<(), raw::Errno> {
//! # #[cfg(unix)] {
//! let file = raw::open(c"/dev/null", raw::O_WRONLY, 0)?;
//! raw::write_all(raw::borrow(&file), b"text")?;
//! raw::close(file)?;
//! # }
//! # Ok(())
//! # }
//! ```

pub use crate::errno::Errno;
pub use crate::sys::{
    AsFile, BorrowedFile, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC,
    O_WRONLY, OwnedFile, Status, borrow, close, open, read, status, write,
};

/// Writes all of `bytes` at the file's position, with one [`write()`] unless the system takes them
/// in parts. Empty `bytes` take no call.
///
/// # Errors
///
/// The system's error, or [`Errno::NOTHING_WRITTEN`]. Some of the bytes may have been written.
#[inline]
pub fn write_all(file: BorrowedFile<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let count = write(file, bytes)?;
        if count == 0 {
            return Err(Errno::NOTHING_WRITTEN);
        }
        bytes = &bytes[count..];
    }
    Ok(())
}
