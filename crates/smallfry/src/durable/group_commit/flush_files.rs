//! Flushes the files of a batch one by one, on flusher threads, while more are written.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use smallfry_workers::start_thread;

use super::batch::{Batch, State};
use super::written::Written;
use crate::durable::flush::flush_file;
use crate::error::{Error, Operation};
use crate::raw;
use crate::write::Durability;

impl Batch {
    /// Wakes a flusher thread, or starts one.
    pub(super) fn wake_flusher(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.flushers.should_start(&state.open) {
            state.flushers.add(1);
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
                state = self.wait_for_flush(state);
            }
        }
    }

    /// Flushes all open files, with more threads if that takes long.
    pub(super) fn flush_open(self: &Arc<Self>) {
        let mut state = self.lock();
        state.open.begin_writeback();
        if state.open.waiting() > 1 && state.open.is_untimed() && !state.flushers.are_running() {
            drop(state);
            self.wake_flusher();
            state = self.lock();
        }
        while state.open.count() > 0 {
            let next = if state.flushers.should_watch(&state.open) {
                None
            } else {
                state.open.take()
            };
            if let Some(written) = next {
                drop(state);
                self.flush(written);
                state = self.lock();
            } else {
                state = self.wait_for_flush(state);
            }
        }
    }

    /// Waits until another thread has flushed a file. Until one ever has, it looks at the clock
    /// from time to time, and starts the threads that pay.
    fn wait_for_flush<'state>(
        self: &'state Arc<Self>,
        mut state: MutexGuard<'state, State>,
    ) -> MutexGuard<'state, State> {
        if state.open.is_untimed() {
            state.open.open_more_if_slow();
            let more = state.flushers.missing(&state.open);
            if more > 0 {
                state.flushers.add(more);
                drop(state);
                self.spawn(more);
                return self.lock();
            }
        }
        // It may not have been worth waking a flusher before.
        if state.flushers.has_idle() && state.open.waiting() > 0 {
            self.file_waits.notify_one();
        }
        let next_look = state.flushers.next_look(&state.open);
        state.flushers.add_waiter();
        state = match next_look {
            None => self
                .file_flushed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(time) => {
                let waited = self.file_flushed.wait_timeout(state, time);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
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
        state.flushers.remove_idle();
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
            let Ok(thread) = start_thread("smallfry", move || batch.serve()) else {
                // The system has no thread to give. Writers flush instead, and may be waiting.
                self.lock().flushers.remove_unstarted(count - started);
                self.file_flushed.notify_all();
                return;
            };
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.push(thread);
        }
    }

    fn flushed(self: &Arc<Self>, key: u64, took: Duration) {
        let mut state = self.lock();
        let was_full = state.open.is_full();
        state.open.flushed(key, took);
        let more = if self.is_for_many {
            state.flushers.missing(&state.open)
        } else {
            0
        };
        state.flushers.add(more);
        // A waiter wants room, a file to flush, or the end. Waking it for nothing costs as much as
        // the flush.
        let open = &state.open;
        let is_news = was_full || open.waiting() > 0 || open.count() == 0;
        let should_notify = is_news && state.flushers.has_waiters();
        drop(state);
        if should_notify {
            self.file_flushed.notify_all();
        }
        self.spawn(more);
    }
}

/// Counts a flusher thread, until it ends or panics.
struct Serving<'batch>(&'batch Arc<Batch>);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.lock().flushers.remove();
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
