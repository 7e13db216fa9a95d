//! Flushes the files of a batch one by one, on flusher threads, while more are written.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::batch::{Batch, State};
use super::written::Written;
use crate::durable::flush::flush_file;
use crate::error::{Error, Operation};
use crate::raw;
use crate::write::Durability;

/// The stack of a thread in bytes: enough to flush, close and rename.
const STACK: usize = 256 << 10;

impl Batch {
    /// Wakes a flusher thread, or starts the first.
    pub(super) fn wake_flusher(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.flushers.are_running() {
            drop(state);
            self.file_waits.notify_one();
        } else {
            state.flushers.add(1);
            state.open.begin_writeback();
            drop(state);
            self.spawn(1);
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
                if state.flushers.has_idle() {
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
        state.flushers.add_waiter();
        let mut state = self
            .file_flushed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
        state.flushers.remove_waiter();
        state
    }

    /// Ends all flusher threads and waits for them.
    pub(super) fn end_flushers(&self) {
        let mut state = self.lock();
        state.flushers.end();
        let has_threads = state.flushers.are_running();
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
            } else if state.flushers.is_over() {
                break;
            } else {
                state.flushers.add_idle();
                state = self
                    .file_waits
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.flushers.remove_idle();
            }
        }
        drop(state);
        drop(serving);
    }

    /// Flushes a file that was taken from the open files.
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

    /// Flushes one file by the descriptor that wrote it, closes it, and renames it.
    fn flush_one(&self, written: &mut Written) -> Result<(), Error> {
        if let Some(file) = &written.file {
            // A temporary file has the attributes of the old one, which a flush of contents may
            // leave out.
            let level = match written.temporary {
                Some(_) => Durability::Full,
                None => self.options.durability,
            };
            flush_file(raw::borrow(file), level)
                .map_err(|(operation, reason)| Error::at(operation, &written.path, reason))?;
        }
        written.close()?;
        self.rename(written)
    }

    fn spawn(self: &Arc<Self>, count: usize) {
        for started in 0..count {
            let batch = Arc::clone(self);
            let thread = Builder::new().name("smallfry".into()).stack_size(STACK);
            let Ok(thread) = thread.spawn(move || batch.serve()) else {
                // The system has no thread to give. Writers flush instead, and may be waiting.
                self.lock().flushers.remove(count - started);
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
        state.flushers.add(more);
        let has_waiters = state.flushers.has_waiters();
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
        self.0.lock().flushers.remove(1);
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
