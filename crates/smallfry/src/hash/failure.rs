//! The end of a file without a digest.

use std::io;
use std::path::Path;

use crate::error::{Error, Operation};

/// The reason why a file has no digest.
pub(super) enum Failure {
    Reason(Operation, io::Error),
    /// The batch was cancelled in the middle of the file.
    Cancelled,
}

impl Failure {
    pub(super) fn at(self, path: &Path) -> Error {
        match self {
            Self::Reason(operation, reason) => Error::at(operation, path, reason),
            Self::Cancelled => Error::cancelled(Operation::Read, path),
        }
    }
}
