//! The files of a batch that have failed.

use crate::error::Error;

/// Errors with the numbers of their files.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<(usize, Error)>);

impl Failures {
    pub(super) fn add(&mut self, index: usize, error: Error) {
        self.0.push((index, error));
    }

    /// Takes the first error of each file, in the order of files. It has caused the later ones.
    pub(super) fn take(&mut self) -> Vec<(usize, Error)> {
        let mut failures = std::mem::take(&mut self.0);
        failures.sort_by_key(|(index, _)| *index);
        failures.dedup_by_key(|(index, _)| *index);
        failures
    }
}
