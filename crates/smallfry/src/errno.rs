//! Error numbers of the operating system.

use std::{fmt, io};

/// An error number of the operating system: `errno` on Unix, `GetLastError` on Windows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// A write of a non-empty buffer took no bytes and gave no reason.
    ///
    /// No system uses 0 as an error number. As an [`io::Error`] this is
    /// [`io::ErrorKind::WriteZero`].
    pub const NOTHING_WRITTEN: Self = Self(0);

    /// Returns the kind of this error in the standard library's terms.
    pub fn kind(self) -> io::ErrorKind {
        io::Error::from(self).kind()
    }
}

/// Returns [`Errno::is_out_of_descriptors`] of a system error, and false for any other error.
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    number.is_some_and(|number| Errno(number).is_out_of_descriptors())
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
