//! A count that `close_already` lacks, so that a run can end when all is closed: the files on
//! their way.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Counter {
    files: Mutex<usize>,
    none: Condvar,
}

/// Clones are the same thing.
#[derive(Clone, Default)]
pub(crate) struct Pending(Arc<Counter>);

impl Pending {
    /// Returns the job that closes the file.
    pub(crate) fn job(&self, file: File) -> impl FnOnce() + Send + 'static {
        *self.files() += 1;
        let this = self.clone();
        move || {
            drop(file);
            let mut files = this.files();
            *files -= 1;
            if *files == 0 {
                this.0.none.notify_all();
            }
        }
    }

    pub(crate) fn wait(&self) {
        let all = self.0.none.wait_while(self.files(), |files| *files > 0);
        drop(all.unwrap_or_else(PoisonError::into_inner));
    }

    fn files(&self) -> MutexGuard<'_, usize> {
        // A number cannot be left half changed.
        self.0.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
