//! Threads that flush the files of a batch one by one, while more are written.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::Batch;
use super::at_once::STACK;
use super::queue::{Queue, Written};
use crate::error::{Error, Operation};

impl Batch {
    /// Has a thread flush what waits: one that has nothing to do, or the first.
    pub(super) fn call_flusher(self: &Arc<Self>) {
        let mut queue = self.lock();
        if queue.threads == 0 {
            queue.threads = 1;
            queue.begin();
            drop(queue);
            self.spawn(1);
        } else {
            drop(queue);
            self.waits.notify_one();
        }
    }

    /// Waits until another file may be opened, and flushes meanwhile if that is faster.
    pub(super) fn make_room(self: &Arc<Self>) {
        let mut queue = self.lock();
        while queue.is_full() {
            let next = if queue.is_fast() { queue.take() } else { None };
            if let Some(written) = next {
                drop(queue);
                self.flush(written);
                queue = self.lock();
            } else {
                // Nobody may have been called: it was not worth it then.
                if queue.idle > 0 {
                    self.waits.notify_one();
                }
                queue = self.wait_for_another(queue);
            }
        }
    }

    /// Flushes all files that are open, with more threads if that takes long.
    pub(super) fn flush_open(self: &Arc<Self>) {
        let mut queue = self.lock();
        queue.begin();
        while queue.count_open() > 0 {
            if let Some(written) = queue.take() {
                drop(queue);
                self.flush(written);
                queue = self.lock();
            } else {
                queue = self.wait_for_another(queue);
            }
        }
    }

    /// Until somebody else has flushed a file.
    fn wait_for_another<'queue>(
        &self,
        mut queue: MutexGuard<'queue, Queue>,
    ) -> MutexGuard<'queue, Queue> {
        queue.waiters += 1;
        let mut queue = self
            .done
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
        queue.waiters -= 1;
        queue
    }

    /// Has all threads end, and waits for that.
    pub(super) fn end_flushers(&self) {
        let mut queue = self.lock();
        queue.is_over = true;
        let has_threads = queue.threads > 0;
        drop(queue);
        if has_threads {
            self.waits.notify_all();
        }
        // Who calls another is waited for after it.
        while let Some(thread) = self.next_thread() {
            // A panic is an error of the file that it was about.
            drop(thread.join());
        }
    }

    fn next_thread(&self) -> Option<JoinHandle<()>> {
        self.threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    /// What a thread does.
    fn serve(self: &Arc<Self>) {
        let serving = Serving(self);
        let mut queue = self.lock();
        loop {
            if let Some(written) = queue.take() {
                drop(queue);
                self.flush(written);
                queue = self.lock();
            } else if queue.is_over {
                break;
            } else {
                queue.idle += 1;
                queue = self
                    .waits
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            }
        }
        drop(queue);
        drop(serving);
    }

    fn flush(self: &Arc<Self>, written: Written) {
        let mut taken = Taken {
            batch: self,
            key: written.key(),
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
                // The system has none to give: who writes or finishes does it, and may be waiting.
                self.lock().threads -= count - started;
                self.done.notify_all();
                return;
            };
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.push(thread);
        }
    }

    fn flushed(self: &Arc<Self>, key: u64, took: Duration) {
        let mut queue = self.lock();
        queue.flushed(key, took);
        let more = if self.is_for_many {
            queue.threads_wanted()
        } else {
            0
        };
        queue.threads += more;
        let is_waited_for = queue.waiters > 0;
        drop(queue);
        // A system call, even if nobody listens.
        if is_waited_for {
            self.done.notify_all();
        }
        self.spawn(more);
    }
}

/// A thread; also if it panics, it is none any more.
struct Serving<'batch>(&'batch Arc<Batch>);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.lock().threads -= 1;
        if thread::panicking() {
            self.0.done.notify_all();
        }
    }
}

/// A file that is being flushed; also if that panics, others must not wait for it for ever, or take it for flushed.
struct Taken<'batch> {
    batch: &'batch Arc<Batch>,
    key: u64,
    began: Instant,
    /// Until it is recorded.
    written: Option<Written>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(written) = self.written.take() {
            let reason = io::Error::other("a thread panicked");
            let error = Error::at(Operation::Fsync, &written.path, reason);
            self.batch.lock().failures.push((written.index, error));
        }
        self.batch.flushed(self.key, self.began.elapsed());
    }
}
