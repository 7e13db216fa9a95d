//! The result of an operation on a tree: counts, and errors.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// The counts of an operation on a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of files, links and special files.
    pub files: u64,
    /// The number of directories.
    pub directories: u64,
    /// The number of bytes that were copied or hashed.
    pub bytes: u64,
    /// The number of entries that [`Mirror`](super::Mirror) or
    /// [`only_if_changed`](super::Copier::only_if_changed) has found to be the same.
    pub unchanged: u64,
    /// The number of entries that a mirror has deleted.
    pub deleted: u64,
}

/// The counts and errors of an operation that several threads do.
#[derive(Default)]
pub(crate) struct Results {
    files: AtomicU64,
    directories: AtomicU64,
    bytes: AtomicU64,
    unchanged: AtomicU64,
    deleted: AtomicU64,
    errors: Mutex<Vec<Error>>,
}

impl Results {
    /// Counts a file, link or special file.
    pub(crate) fn add_file(&self, bytes: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        if bytes > 0 {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn add_directory(&self) {
        self.directories.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an entry that is the same.
    pub(super) fn add_unchanged(&self) {
        self.unchanged.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an entry that was deleted.
    pub(super) fn add_deleted(&self) {
        self.deleted.fetch_add(1, Ordering::Relaxed);
    }

    #[cold]
    pub(crate) fn fail(&self, error: Error) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push(error);
    }

    /// Returns true if nothing was done, because of errors.
    #[cfg(feature = "archive")]
    pub(crate) fn has_only_failed(&self) -> bool {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = [&self.files, &self.directories];
        !errors.is_empty()
            && counts
                .iter()
                .all(|count| count.load(Ordering::Relaxed) == 0)
    }

    pub(crate) fn end(self) -> Result<Report, TreeError> {
        let (errors, report) = self.into_parts();
        if errors.is_empty() {
            Ok(report)
        } else {
            Err(TreeError { errors, report })
        }
    }

    /// Ends an operation that has no result because of this error.
    #[cfg(feature = "hash")]
    pub(crate) fn end_with(self, error: Error) -> TreeError {
        self.fail(error);
        let (errors, report) = self.into_parts();
        TreeError { errors, report }
    }

    fn into_parts(self) -> (Vec<Error>, Report) {
        let report = Report {
            files: self.files.into_inner(),
            directories: self.directories.into_inner(),
            bytes: self.bytes.into_inner(),
            unchanged: self.unchanged.into_inner(),
            deleted: self.deleted.into_inner(),
        };
        let errors = self.errors.into_inner();
        (errors.unwrap_or_else(PoisonError::into_inner), report)
    }
}

/// The errors of an operation on a tree, which went on after each of them.
///
/// It prints as the first error, and how many others there are.
#[derive(Debug)]
pub struct TreeError {
    errors: Vec<Error>,
    report: Report,
}

impl TreeError {
    /// Returns the errors, one for each entry, in no order.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Returns the errors themselves.
    pub fn into_errors(self) -> Vec<Error> {
        self.errors
    }

    /// Returns what was done nevertheless.
    pub fn report(&self) -> Report {
        self.report
    }
}

impl From<Error> for TreeError {
    /// Makes that of an operation that did nothing.
    fn from(error: Error) -> Self {
        Self {
            errors: vec![error],
            report: Report::default(),
        }
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
