//! Ctrl-C, termination and hang-up: every child process is ended, then the run unwinds and its
//! directories are removed.

use crate::failure::Failure;
use crate::signals;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A thing that runs until it ends or is ended.
pub(crate) trait Running: Send + Sync {
    /// Makes it end soon; has no effect after its end.
    fn end(self: Arc<Self>);
}

/// Knows all living children. Clones are the same thing.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// The exit code of the first signal; 0 before it.
    asked: Arc<AtomicU8>,
    children: Arc<Mutex<Vec<Weak<dyn Running>>>>,
}

impl Interrupt {
    /// Installs the handlers; once per process.
    pub(crate) fn listen(&self) -> Result<(), Failure> {
        let this = self.clone();
        signals::listen(move |code| {
            // The first signal is the reason. An error means that this one is a later one.
            let _ = this
                .asked
                .compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
            for child in lock(&this.children).iter().filter_map(Weak::upgrade) {
                child.end();
            }
        })
        .map_err(|error| Failure::said(format!("cannot listen for signals: {error}")))
    }

    /// `Err` once a stop was asked for.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.asked.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Failure::Interrupted(code)),
        }
    }

    /// Ends `child` when a stop is asked for, while it has another owner. Check afterwards, since
    /// the stop may have come just before.
    pub(crate) fn watch(&self, child: &Arc<dyn Running>) {
        let mut children = lock(&self.children);
        children.retain(|known| known.strong_count() > 0);
        children.push(Arc::downgrade(child));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing behind these locks can be left half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
