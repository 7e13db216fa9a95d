//! The mailbox of an environment, in which threads leave results.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use napi_sys as sys;
use smallfry::hash::Cache;

use crate::accepted;
use crate::contents::Contents;
use crate::errors::Reason;
use crate::sys::metadata::Status;
use crate::tree_outcome::Outcome;

/// The result of a job, or the reason why it failed.
pub(crate) type JobResult = Result<Answer, Reason>;

/// The result of a job.
pub(crate) enum Answer {
    Nothing,
    Contents(Contents),
    /// A path; or names with a slash after each, and perhaps their types.
    Text(Vec<u8>),
    /// The fields of a file's status, and whether they become bigints.
    Status(Box<Status>, bool),
    Tree(Box<Outcome>),
    /// A cache of digests that was opened.
    Cache(Cache),
}

/// The result of a job, on its way to the environment.
pub(crate) struct Finished {
    pub(crate) id: u32,
    /// The JavaScript callback wants a callback scope of its own.
    pub(crate) own_scope: bool,
    pub(crate) is_write: bool,
    pub(crate) result: JobResult,
}

/// A write that was accepted. Dropping it says that the write is done or given up.
pub(crate) struct Accepted(Arc<Mailbox>);

impl Drop for Accepted {
    fn drop(&mut self) {
        self.0.lock().finish_write(&self.0.all_written);
        accepted::finish_write();
    }
}

/// The results that wait for one environment.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    all_written: Condvar,
    /// Calls of the waker that are running.
    calls: AtomicUsize,
}

struct State {
    /// Wakes the environment; null once it is ending.
    waker: sys::napi_threadsafe_function,
    /// A wake-up is on its way. It is for all results that arrive before the environment looks.
    woken: bool,
    finished: Vec<Finished>,
    /// Sessions that have results.
    sessions: Vec<u32>,
    /// Writes accepted and not finished.
    writes: usize,
}

// SAFETY: a thread-safe function may be called from any thread until it is released, and `waker` is
// set to null under the lock before that; the other fields are plain data.
unsafe impl Send for State {}

impl State {
    fn finish_write(&mut self, all_written: &Condvar) {
        self.writes -= 1;
        if self.writes == 0 {
            all_written.notify_all();
        }
    }
}

impl Mailbox {
    pub(crate) fn new(waker: sys::napi_threadsafe_function) -> Self {
        Self {
            state: Mutex::new(State {
                waker,
                woken: false,
                finished: Vec::new(),
                sessions: Vec::new(),
                writes: 0,
            }),
            all_written: Condvar::new(),
            calls: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a write that is done when what this returns is dropped.
    pub(crate) fn accept(self: &Arc<Self>) -> Accepted {
        self.accept_write();
        Accepted(Arc::clone(self))
    }

    /// Accepts a write that is done when its result is [put](Self::put) here. Neither the
    /// environment nor the process ends before that.
    pub(crate) fn accept_write(&self) {
        self.lock().writes += 1;
        accepted::accept_write();
    }

    /// Puts a result in, on any thread. Returns true if the caller has to [wake](Self::wake) the
    /// environment for it.
    pub(crate) fn put(&self, finished: Finished) -> bool {
        let is_write = finished.is_write;
        let must_wake = {
            let mut state = self.lock();
            if is_write {
                state.finish_write(&self.all_written);
            }
            if state.waker.is_null() {
                false
            } else {
                state.finished.push(finished);
                !state.woken
            }
        };
        if is_write {
            accepted::finish_write();
        }
        must_wake
    }

    /// Wakes the environment if it has results here and no wake-up is on its way.
    pub(crate) fn wake(&self) {
        let mut state = self.lock();
        if !state.woken && !state.finished.is_empty() {
            state.woken = true;
            self.call(state);
        }
    }

    /// Says that a session has results, and wakes the environment.
    pub(crate) fn announce(&self, session: u32) {
        let mut state = self.lock();
        if state.waker.is_null() || state.sessions.contains(&session) {
            return;
        }
        state.sessions.push(session);
        if !state.woken {
            state.woken = true;
            self.call(state);
        }
    }

    /// Takes out the results of jobs, and the sessions that have results.
    pub(crate) fn take(&self) -> (Vec<Finished>, Vec<u32>) {
        let mut state = self.lock();
        state.woken = false;
        let finished = std::mem::take(&mut state.finished);
        (finished, std::mem::take(&mut state.sessions))
    }

    /// Wakes the environment once more, whatever is here.
    pub(crate) fn wake_again(&self) {
        self.call(self.lock());
    }

    /// Calls the waker with the lock released: the environment takes the lock as soon as it wakes.
    fn call(&self, state: MutexGuard<'_, State>) {
        let waker = state.waker;
        if waker.is_null() {
            return;
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        drop(state);
        // SAFETY: not null, so not yet released, and `close` waits for the count of calls before it
        // can be; an unlimited queue takes the call without blocking.
        unsafe {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            sys::napi_call_threadsafe_function(waker, std::ptr::null_mut(), mode);
        }
        self.calls.fetch_sub(1, Ordering::Release);
    }

    /// Takes no more results, and waits for the writes that were accepted.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.waker = std::ptr::null_mut();
        state.finished.clear();
        while self.calls.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        while state.writes > 0 {
            state = self
                .all_written
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
