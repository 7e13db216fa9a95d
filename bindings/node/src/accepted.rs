//! The writes that the process has accepted. It does not end before they are done.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

#[derive(Default)]
struct State {
    /// The number of writes that were accepted and are not finished.
    writes: usize,
    exiting: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    writes: 0,
    exiting: false,
});
static ALL_DONE: Condvar = Condvar::new();
/// Called before a write is accepted. It makes the end of the process wait.
static BEFORE_WRITES: OnceLock<fn()> = OnceLock::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the function that is called before a write is accepted, each time.
pub(crate) fn before_writes(call: fn()) {
    let _ = BEFORE_WRITES.set(call);
}

/// Counts one more write.
pub(crate) fn accept_write() {
    if let Some(call) = BEFORE_WRITES.get() {
        call();
    }
    lock().writes += 1;
}

/// Takes a finished write off the count.
pub(crate) fn finish_write() {
    let mut state = lock();
    state.writes -= 1;
    if state.writes == 0 && state.exiting {
        ALL_DONE.notify_all();
    }
}

/// Waits for all accepted writes, at the end of the process.
pub(crate) fn wait_for_writes() {
    let mut state = lock();
    state.exiting = true;
    while state.writes > 0 {
        state = ALL_DONE.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}
