//! A queue of calls for a bounded number of threads. They end when no call waits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Calls that wait, and the number of threads that do calls.
pub(crate) struct BoundedQueue<T> {
    state: Mutex<State<T>>,
    max_threads: usize,
    /// The stack of a thread, in bytes.
    stack_size: usize,
    /// The body of a thread. It [takes](Self::take) calls until none wait.
    serve: fn(),
}

struct State<T> {
    waiting: VecDeque<T>,
    threads: usize,
}

impl<T> BoundedQueue<T> {
    pub(crate) const fn new(max_threads: usize, stack_size: usize, serve: fn()) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                threads: 0,
            }),
            max_threads,
            stack_size,
            serve,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in a call. It begins at once unless all threads are busy.
    pub(crate) fn push(&self, call: T) {
        let mut state = self.lock();
        state.waiting.push_back(call);
        if state.threads == self.max_threads {
            return;
        }
        state.threads += 1;
        drop(state);
        let thread = Builder::new().name("smallfry".into());
        let thread = thread.stack_size(self.stack_size);
        if thread.spawn(self.serve).is_ok() {
            return;
        }
        let mut state = self.lock();
        if state.threads > 1 {
            // Another thread takes the call when its own is done.
            state.threads -= 1;
            return;
        }
        drop(state);
        (self.serve)();
    }

    /// Takes calls that wait by `take`. Returns `None` if none wait: the thread ends then.
    pub(crate) fn take<R>(&self, take: impl FnOnce(&mut VecDeque<T>) -> R) -> Option<R> {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            state.threads -= 1;
            return None;
        }
        Some(take(&mut state.waiting))
    }
}
