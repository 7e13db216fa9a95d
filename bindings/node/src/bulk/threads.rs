//! Threads for calls for many files, counted, so that the end of the process can wait until they use no file.

use std::sync::atomic::{AtomicUsize, Ordering};

use smallfry_workers::{Detached, Spawn};

static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Makes such threads.
pub(super) struct Threads;

impl Spawn<'static> for Threads {
    fn spawn(&self, body: Box<dyn FnOnce() + Send>) -> bool {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        let place = Place;
        Detached.spawn(Box::new(move || {
            let _place = place;
            body();
        }))
    }
}

/// One of those counted; a thread that the system refuses drops it as well.
struct Place;

impl Drop for Place {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Release);
    }
}

/// Whether one of them may be using a file.
pub(crate) fn are_at_work() -> bool {
    AT_WORK.load(Ordering::Acquire) > 0
}
