//! The mailbox of one environment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use napi_sys as sys;

use super::exit::{accept_write, finished_write};
use crate::contents::Contents;
use crate::outcome::Reason;

/// A job that is done.
pub(crate) struct Finished {
    pub(crate) id: u32,
    /// Its JavaScript callback wants a callback scope of its own.
    pub(crate) alone: bool,
    pub(crate) is_write: bool,
    /// Contents for a read, nothing for a write.
    pub(crate) result: Result<Option<Contents>, Reason>,
}

/// A write that was accepted; dropped when it is done or given up.
pub(crate) struct Accepted(Arc<Client>);

impl Drop for Accepted {
    fn drop(&mut self) {
        self.0.finish_write();
        finished_write();
    }
}

/// Where finished jobs wait for the environment that asked for them.
pub(crate) struct Client {
    state: Mutex<State>,
    quiet: Condvar,
    /// Calls of the waker under way.
    calls: AtomicUsize,
}

struct State {
    /// Wakes the environment; null once it is going away.
    waker: sys::napi_threadsafe_function,
    /// A wake-up is under way, further results ride on it.
    woken: bool,
    finished: Vec<Finished>,
    /// Sessions that have results.
    sessions: Vec<u32>,
    /// Writes accepted and not finished.
    writes: usize,
}

// SAFETY: a thread-safe function may be called from any thread until it is released, and `waker` is nulled under the
// lock before that; the rest is plain data.
unsafe impl Send for State {}

impl Client {
    pub(crate) fn new(waker: sys::napi_threadsafe_function) -> Self {
        Self {
            state: Mutex::new(State {
                waker,
                woken: false,
                finished: Vec::new(),
                sessions: Vec::new(),
                writes: 0,
            }),
            quiet: Condvar::new(),
            calls: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a write that is not a job.
    pub(crate) fn accept(self: &Arc<Self>) -> Accepted {
        self.accept_write();
        accept_write();
        Accepted(Arc::clone(self))
    }

    /// A write was accepted: from now on the environment does not end before it is done.
    pub(crate) fn accept_write(&self) {
        self.lock().writes += 1;
    }

    /// Puts a result into the mailbox, on any thread. True if the environment is yet to be woken for it.
    pub(crate) fn put(&self, finished: Finished) -> bool {
        let is_write = finished.is_write;
        let owed = {
            let mut state = self.lock();
            if is_write {
                state.writes -= 1;
                if state.writes == 0 {
                    self.quiet.notify_all();
                }
            }
            if state.waker.is_null() {
                false
            } else {
                state.finished.push(finished);
                !state.woken
            }
        };
        if is_write {
            finished_write();
        }
        owed
    }

    /// Wakes the environment for what is in the mailbox, if that has not been done.
    pub(crate) fn wake(&self) {
        let mut state = self.lock();
        if !state.woken && !state.finished.is_empty() {
            state.woken = true;
            self.call(state);
        }
    }

    /// A session has results: its environment will look for them.
    pub(crate) fn nudge(&self, session: u32) {
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

    /// Takes what has arrived: jobs, and sessions that have something.
    pub(crate) fn take(&self) -> (Vec<Finished>, Vec<u32>) {
        let mut state = self.lock();
        state.woken = false;
        let finished = std::mem::take(&mut state.finished);
        (finished, std::mem::take(&mut state.sessions))
    }

    fn finish_write(&self) {
        let mut state = self.lock();
        state.writes -= 1;
        if state.writes == 0 {
            self.quiet.notify_all();
        }
    }

    /// Asks for one more turn of the event loop's callback.
    pub(crate) fn wake_again(&self) {
        self.call(self.lock());
    }

    /// Calls the waker with the lock released: whoever wakes up wants it at once.
    fn call(&self, state: MutexGuard<'_, State>) {
        let waker = state.waker;
        if waker.is_null() {
            return;
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        drop(state);
        // SAFETY: not null, so not yet released, and `leave` waits for the count of calls before it can be; an unlimited
        // queue takes the call without blocking.
        unsafe {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            sys::napi_call_threadsafe_function(waker, std::ptr::null_mut(), mode);
        }
        self.calls.fetch_sub(1, Ordering::Release);
    }

    /// No more results are wanted; waits for the writes that were accepted.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.waker = std::ptr::null_mut();
        state.finished.clear();
        while self.calls.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        while state.writes > 0 {
            state = self
                .quiet
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
