//! The barrier of a call for many files: after all entries have run, and before JavaScript is told
//! that the call ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallfry::Error;
use smallfry::bulk::Durable;

/// The barriers of the process that are not finished.
static UNFINISHED: Mutex<Vec<Arc<Commit>>> = Mutex::new(Vec::new());

/// A barrier that is finished once: by a thread of the call, or by the end of its environment or of
/// the process, whichever comes first.
pub(crate) struct Commit {
    durable: Arc<Durable>,
    is_done: Mutex<bool>,
    outcome: Mutex<Option<Flushed>>,
}

/// The outcome of a barrier.
pub(super) enum Flushed {
    /// Errors of entries that had none before, with the numbers of these entries.
    Errors(Vec<(usize, Error)>),
    /// Nothing is known of any entry.
    Panicked,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Commit {
    pub(super) fn new(durable: Arc<Durable>) -> Arc<Self> {
        let commit = Arc::new(Self {
            durable,
            is_done: Mutex::new(false),
            outcome: Mutex::new(None),
        });
        lock(&UNFINISHED).push(Arc::clone(&commit));
        commit
    }

    /// Flushes all that was written and gives it its names. Returns when that is done, also if
    /// another thread does it.
    pub(crate) fn finish(&self) {
        let mut is_done = lock(&self.is_done);
        if *is_done {
            return;
        }
        *is_done = true;
        let flushed = match catch_unwind(AssertUnwindSafe(|| self.durable.finish())) {
            Ok(errors) => Flushed::Errors(errors),
            Err(_) => Flushed::Panicked,
        };
        *lock(&self.outcome) = Some(flushed);
        drop(is_done);
        lock(&UNFINISHED).retain(|commit| !std::ptr::eq(&raw const **commit, self));
    }

    /// Takes the outcome, once it is there.
    pub(super) fn take_outcome(&self) -> Option<Flushed> {
        lock(&self.outcome).take()
    }
}

/// Finishes all barriers: the process ends, and all entries that were taken have run.
pub(crate) fn finish_commits() {
    let unfinished = lock(&UNFINISHED).clone();
    for commit in unfinished {
        commit.finish();
    }
}
