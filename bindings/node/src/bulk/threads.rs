//! Threads for calls for many files. They are counted, so that the end of the process can wait
//! until they use no file.

use std::sync::atomic::{AtomicUsize, Ordering};

use smallfry_workers::{Detached, Spawn};

static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Makes counted threads.
pub(super) struct Threads;

impl Spawn<'static> for Threads {
    fn spawn(&self, body: Box<dyn FnOnce() + Send>) -> bool {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        let counted = Counted;
        Detached.spawn(Box::new(move || {
            let _counted = counted;
            body();
        }))
    }
}

/// The count of one thread. If the system refuses the thread, this is dropped as well.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Release);
    }
}

/// Tells whether one of them may be using a file.
pub(crate) fn are_at_work() -> bool {
    AT_WORK.load(Ordering::Acquire) > 0
}
