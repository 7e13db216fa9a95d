//! The result of an operation on a tree: counts, and errors.

use std::fmt;

use crate::error::Error;

/// The counts of an operation on a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of files, links and special files.
    pub files: u64,
    /// The number of directories.
    pub directories: u64,
    /// The number of bytes that were copied.
    pub bytes: u64,
}

/// The errors of an operation on a tree, which went on after each of them.
///
/// It prints as the first error, and how many others there are.
#[derive(Debug)]
pub struct TreeError {
    pub(super) errors: Vec<Error>,
    pub(super) report: Report,
}

impl TreeError {
    /// Returns the errors, one for each entry, in no order.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Returns what was done nevertheless.
    pub fn report(&self) -> Report {
        self.report
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.errors.split_first() else {
            return f.write_str("nothing failed");
        };
        write!(f, "{first}")?;
        match others.len() {
            0 => Ok(()),
            1 => f.write_str(" (and 1 more error)"),
            count => write!(f, " (and {count} more errors)"),
        }
    }
}

impl std::error::Error for TreeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.errors
            .first()
            .map(|error| error as &(dyn std::error::Error + 'static))
    }
}
