//! Keeps the errors of deferred closes until the program takes them, or passes them to a sink.

use std::path::Path;
use std::sync::Arc;

use smallfry_workers::sync::{Mutex, MutexGuard, PoisonError};

use super::guard::{as_closing, catch};
use crate::error::Error;

/// A function that is called with errors.
type Sink = Arc<dyn Fn(Error) + Send + Sync>;

#[derive(Default)]
pub(super) struct Reports(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    sink: Option<Sink>,
    errors: Vec<Error>,
}

impl Reports {
    /// Locks the reports, for a process that is about to fork.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an error to the sink, or keeps it. An error whose sink panics is kept.
    pub(super) fn report(&self, error: Error) {
        let sink = {
            let mut state = self.lock();
            match &state.sink {
                Some(sink) => Arc::clone(sink),
                None => return state.errors.push(error),
            }
        };
        let copy = error.duplicate();
        if catch(|| as_closing(|| sink(error))).is_none() {
            self.lock().errors.push(copy);
        }
    }

    /// Sets the sink, and passes it the errors kept so far.
    pub(super) fn set_sink(&self, sink: Sink) {
        let (before, errors) = {
            let mut state = self.lock();
            let before = state.sink.replace(sink);
            (before, std::mem::take(&mut state.errors))
        };
        drop(before); // Without the lock, since it may own anything.
        for error in errors {
            self.report(error);
        }
    }

    /// Removes the sink.
    pub(super) fn remove_sink(&self) {
        let before = self.lock().sink.take();
        drop(before);
    }

    /// Returns the number of errors that are kept.
    pub(super) fn len(&self) -> usize {
        self.lock().errors.len()
    }

    /// Takes the errors that are kept.
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut self.lock().errors)
    }

    /// Takes the error of the file at `path`, if one is kept.
    pub(super) fn take_of(&self, path: &Path) -> Option<Error> {
        let mut state = self.lock();
        if state.errors.is_empty() {
            return None;
        }
        // A path that the system was asked for is absolute.
        let absolute = std::path::absolute(path).ok();
        let is_it = |error: &Error| {
            let known = error.path();
            known == Some(path) || (known.is_some() && known == absolute.as_deref())
        };
        let index = state.errors.iter().position(is_it)?;
        Some(state.errors.remove(index))
    }
}
