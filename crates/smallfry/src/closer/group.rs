//! Errors of closes that belong to one batch.

use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// The errors of closing the files of a batch.
#[derive(Debug, Default)]
pub(crate) struct Group(Mutex<Vec<(usize, Error)>>);

impl Group {
    pub(super) fn report(&self, index: usize, error: Error) {
        let mut errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push((index, error));
    }

    /// Takes the errors so far, each with the number of its entry.
    pub(crate) fn take(&self) -> Vec<(usize, Error)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
