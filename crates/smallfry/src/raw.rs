//! Bare calls for front ends: no allocation, no path in the error, everything inlinable.
//!
//! A binding for another language has its own path encoding, its own error objects and its own buffers.
//! What it needs from below is the system call done right and nothing else, and that is this module. Programs in Rust
//! are better served by [`fs`](crate::fs), which sits on exactly these functions.
//!
//! | call | done right means |
//! |---|---|
//! | [`open`] | never inherited by child processes; an interrupted call is repeated |
//! | [`write_all`] | partial writes are continued, interrupted ones repeated, a write that takes nothing is an error |
//! | [`read`] | interrupted calls are repeated; the buffer may be uninitialised |
//! | [`status`] | size and kind of an open file |
//! | [`close`] | its error is returned; it is never repeated, since the descriptor is gone either way |
//!
//! Handles are the standard library's: an [`OwnedFile`] is `OwnedFd` or `OwnedHandle`, a [`BorrowedFile`] is
//! `BorrowedFd` or `BorrowedHandle`. A front end that is given a number makes a [`BorrowedFile`] from it at its own
//! edge, with the standard library's `borrow_raw`.
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

use std::{fmt, io};

use crate::sys;

pub use crate::sys::{
    AsFile, BorrowedFile, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC,
    O_WRONLY, OwnedFile, borrow, close, open, read, status, write,
};

/// Writes all of `bytes` at the file's position: one [`write()`], unless the system takes them in parts. None for no bytes.
///
/// # Errors
///
/// The system's own, after which some of the bytes may have been written; [`Errno::NOTHING_WRITTEN`].
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

/// An error number as the operating system gave it: `errno` on Unix, `GetLastError` on Windows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// A write of a non-empty buffer took nothing and gave no reason. No system uses 0 as an error number; as an
    /// [`io::Error`] this is [`io::ErrorKind::WriteZero`].
    pub const NOTHING_WRITTEN: Self = Self(0);

    /// What kind of error this is, in the standard library's terms.
    pub fn kind(self) -> io::ErrorKind {
        io::Error::from(self).kind()
    }

    /// Whether the process, or the whole system, has as many files open as it may. That passes when some are closed.
    pub const fn is_out_of_descriptors(self) -> bool {
        sys::is_out_of_descriptors(self.0)
    }
}

/// [`Errno::is_out_of_descriptors`] of an error of the system.
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    number.is_some_and(sys::is_out_of_descriptors)
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        if errno == Errno::NOTHING_WRITTEN {
            Self::new(io::ErrorKind::WriteZero, "the file accepted no more bytes")
        } else {
            Self::from_raw_os_error(errno.0)
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}, {:?})", self.0, self.kind())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from(*self).fmt(f)
    }
}

impl std::error::Error for Errno {}

/// What the system says of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Length in bytes. Meaningful for a regular file only, and even there 0 may mean "not known", as under `/proc`.
    pub size: u64,
    /// A regular file: not a directory, pipe, terminal or device.
    pub is_regular: bool,
    /// A directory.
    pub is_directory: bool,
}

impl Status {
    pub(crate) const fn new(size: u64, is_regular: bool, is_directory: bool) -> Self {
        Self {
            size,
            is_regular,
            is_directory,
        }
    }
}
