//! The number of flusher threads of a batch, and how many more pay.

use std::time::Duration;

use smallfry_workers::available_cores;

use super::open_files::OpenFiles;
use crate::sys;

/// The maximum number of threads. A disk serves some dozens of flushes at once; a journal or a
/// server serves any number by one wait.
const MAX_THREADS: usize = 128;
/// The cost of a flush besides waiting: system calls and wake-ups. Threads pay until this keeps a
/// processor busy.
const COST: Duration = Duration::from_micros(40);
/// The number of waiting files for which a flusher is woken. Waking one for each file costs more
/// than a fast flush.
const MIN_FILES_TO_WAKE: usize = 8;

/// The flusher threads of a batch, and the threads that wait for them.
#[derive(Debug, Default)]
pub(super) struct Flushers {
    threads: usize,
    /// The number of flusher threads that have nothing to do.
    idle: usize,
    /// The number of other threads that wait for a flush to end.
    waiters: usize,
    /// No file will come any more.
    is_over: bool,
}

impl Flushers {
    /// Counts flusher threads that start.
    pub(super) fn add(&mut self, count: usize) {
        self.threads += count;
    }

    /// Counts flusher threads that end.
    pub(super) fn remove(&mut self, count: usize) {
        self.threads -= count;
    }

    /// Counts a flusher thread that begins to wait for a file.
    pub(super) fn add_idle(&mut self) {
        self.idle += 1;
    }

    /// Counts a flusher thread that has waited for a file.
    pub(super) fn remove_idle(&mut self) {
        self.idle -= 1;
    }

    /// Counts another thread that begins to wait for a flush to end.
    pub(super) fn add_waiter(&mut self) {
        self.waiters += 1;
    }

    /// Counts another thread that has waited for a flush to end.
    pub(super) fn remove_waiter(&mut self) {
        self.waiters -= 1;
    }

    /// Notes that no file will come any more.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Returns true if no file will come any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns true if a flusher thread has nothing to do.
    pub(super) fn has_idle(&self) -> bool {
        self.idle > 0
    }

    /// Returns true if another thread waits for a flush to end.
    pub(super) fn has_waiters(&self) -> bool {
        self.waiters > 0
    }

    /// Returns true if there is a flusher thread.
    pub(super) fn are_running(&self) -> bool {
        self.threads > 0
    }

    /// Returns true if a flusher should be woken or started.
    pub(super) fn should_wake(&self, open: &OpenFiles) -> bool {
        let is_one_free = self.threads == 0 || self.idle > 0;
        is_one_free && (open.is_slow() || open.waiting() >= MIN_FILES_TO_WAKE)
    }

    /// Returns true if a blocked writer should flush a file itself instead of waiting for a
    /// flusher. It should not where flushes are slow: flushers make room sooner.
    pub(super) fn should_help(&self, open: &OpenFiles) -> bool {
        self.threads == 0 || open.is_fast()
    }

    /// Returns how many more threads pay.
    pub(super) fn missing(&self, open: &OpenFiles) -> usize {
        let unserved = open.waiting().saturating_sub(self.idle);
        max_threads(open.flush_time())
            .saturating_sub(self.threads)
            .min(unserved)
    }
}

/// Returns how many threads pay where a single flush takes this long.
pub(super) fn max_threads(flush_time: Duration) -> usize {
    let threads = flush_time.as_micros() / COST.as_micros();
    let threads = usize::try_from(threads).unwrap_or(MAX_THREADS);
    // Each thread may have a directory open.
    let max = MAX_THREADS.min(sys::descriptor_limit() / 8);
    threads.max(available_cores().get()).min(max).max(1)
}
