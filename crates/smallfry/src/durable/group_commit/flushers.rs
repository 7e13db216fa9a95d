//! Threads that flush the files of a batch one by one, while more are written.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use smallfry_workers::available_cores;

use super::open_files::OpenFiles;
use super::written::Written;
use super::{Batch, State};
use crate::error::{Error, Operation};
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
/// The stack of a thread in bytes: enough to flush, close and rename.
const STACK: usize = 256 << 10;

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
    fn should_help(&self, open: &OpenFiles) -> bool {
        self.threads == 0 || open.is_fast()
    }

    /// Returns how many more threads pay.
    fn missing(&self, open: &OpenFiles) -> usize {
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

impl Batch {
    /// Wakes a flusher thread, or starts the first.
    pub(super) fn wake_flusher(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.flushers.threads == 0 {
            state.flushers.threads = 1;
            state.open.begin_writeback();
            drop(state);
            self.spawn(1);
        } else {
            drop(state);
            self.file_waits.notify_one();
        }
    }

    /// Blocks a writer until another file may be opened.
    pub(super) fn make_room(self: &Arc<Self>) {
        let mut state = self.lock();
        while state.open.is_full() {
            let next = if state.flushers.should_help(&state.open) {
                state.open.take()
            } else {
                None
            };
            if let Some(written) = next {
                drop(state);
                self.flush(written);
                state = self.lock();
            } else {
                // It may not have been worth waking a flusher before.
                if state.flushers.idle > 0 {
                    self.file_waits.notify_one();
                }
                state = self.wait_for_flush(state);
            }
        }
    }

    /// Flushes all open files, with more threads if that takes long.
    pub(super) fn flush_open(self: &Arc<Self>) {
        let mut state = self.lock();
        state.open.begin_writeback();
        while state.open.count() > 0 {
            if let Some(written) = state.open.take() {
                drop(state);
                self.flush(written);
                state = self.lock();
            } else {
                state = self.wait_for_flush(state);
            }
        }
    }

    /// Waits until another thread has flushed a file.
    fn wait_for_flush<'state>(
        &self,
        mut state: MutexGuard<'state, State>,
    ) -> MutexGuard<'state, State> {
        state.flushers.waiters += 1;
        let mut state = self
            .file_flushed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
        state.flushers.waiters -= 1;
        state
    }

    /// Ends all flusher threads and waits for them.
    pub(super) fn end_flushers(&self) {
        let mut state = self.lock();
        state.flushers.is_over = true;
        let has_threads = state.flushers.threads > 0;
        drop(state);
        if has_threads {
            self.file_waits.notify_all();
        }
        // A thread that starts another one is joined before that one.
        while let Some(thread) = self.next_thread() {
            // A panic has become the error of its file.
            drop(thread.join());
        }
    }

    fn next_thread(&self) -> Option<JoinHandle<()>> {
        self.threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    /// Flushes files on a flusher thread until no more will come.
    fn serve(self: &Arc<Self>) {
        let serving = Serving(self);
        let mut state = self.lock();
        loop {
            if let Some(written) = state.open.take() {
                drop(state);
                self.flush(written);
                state = self.lock();
            } else if state.flushers.is_over {
                break;
            } else {
                state.flushers.idle += 1;
                state = self
                    .file_waits
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.flushers.idle -= 1;
            }
        }
        drop(state);
        drop(serving);
    }

    fn flush(self: &Arc<Self>, written: Written) {
        let mut taken = Taken {
            batch: self,
            key: written.key,
            began: Instant::now(),
            written: Some(written),
        };
        let Some(written) = &mut taken.written else {
            return;
        };
        let done = self.flush_one(written);
        if let Some(written) = taken.written.take() {
            self.record(written, done, false);
        }
    }

    fn spawn(self: &Arc<Self>, count: usize) {
        for started in 0..count {
            let batch = Arc::clone(self);
            let thread = Builder::new().name("smallfry".into()).stack_size(STACK);
            let Ok(thread) = thread.spawn(move || batch.serve()) else {
                // The system has no thread to give. Writers flush instead, and may be waiting.
                self.lock().flushers.threads -= count - started;
                self.file_flushed.notify_all();
                return;
            };
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.push(thread);
        }
    }

    fn flushed(self: &Arc<Self>, key: u64, took: Duration) {
        let mut state = self.lock();
        state.open.flushed(key, took);
        let more = if self.is_for_many {
            state.flushers.missing(&state.open)
        } else {
            0
        };
        state.flushers.threads += more;
        let has_waiters = state.flushers.waiters > 0;
        drop(state);
        // Notifying is a system call even without a waiter.
        if has_waiters {
            self.file_flushed.notify_all();
        }
        self.spawn(more);
    }
}

/// Counts a flusher thread, until it ends or panics.
struct Serving<'batch>(&'batch Arc<Batch>);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.lock().flushers.threads -= 1;
        if thread::panicking() {
            self.0.file_flushed.notify_all();
        }
    }
}

/// A file that is being flushed. If that panics, the file fails and no thread waits for it.
struct Taken<'batch> {
    batch: &'batch Arc<Batch>,
    key: u64,
    began: Instant,
    /// `None` once its outcome is recorded.
    written: Option<Written>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(written) = self.written.take() {
            let reason = io::Error::other("a thread panicked");
            let error = Error::at(Operation::Fsync, &written.path, reason);
            self.batch.lock().failures.add(written.index, error);
        }
        self.batch.flushed(self.key, self.began.elapsed());
    }
}
