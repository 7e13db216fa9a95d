//! The barrier of a call for many files: once all entries have run, and before anybody is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallfry::Error;
use smallfry::bulk::Durable;

/// Those that are not finished, in the whole process.
static UNFINISHED: Mutex<Vec<Arc<Commit>>> = Mutex::new(Vec::new());

/// A barrier that is finished once, by whoever comes first: a thread of the call, or the end of its environment or of the
/// process, which the entries that were taken are to survive.
pub(crate) struct Commit {
    durable: Arc<Durable>,
    is_done: Mutex<bool>,
    outcome: Mutex<Option<Flushed>>,
}

/// What came of a barrier.
pub(super) enum Flushed {
    /// Errors of entries that had none before, by their numbers.
    Errors(Vec<(usize, Error)>),
    /// A bug of ours: nothing is known of any entry.
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

    /// Flushes and names all that was written; returns when that is done, whoever does it.
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

    /// What came of it, once and when it is done.
    pub(super) fn take_outcome(&self) -> Option<Flushed> {
        lock(&self.outcome).take()
    }
}

/// Finishes what is not: the process ends, and all entries that were taken have run.
pub(crate) fn finish_commits() {
    let unfinished = lock(&UNFINISHED).clone();
    for commit in unfinished {
        commit.finish();
    }
}
