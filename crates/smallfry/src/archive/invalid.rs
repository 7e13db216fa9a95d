//! The error of an archive that is not as its format wants it.

use std::io;

pub(super) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
