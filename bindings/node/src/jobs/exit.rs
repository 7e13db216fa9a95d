//! Accepted writes are completed before the process ends.
//!
//! `process.exit()` ends the main environment without its clean-up hooks, so they are awaited in `atexit`; where there is
//! no such thing JavaScript's `exit` event calls [`wait`].

use std::io::{self, Write};
use std::panic::catch_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use smallfry::close::Closer;

use super::queue::{drop_reads, is_at_work};
use crate::bulk;
use crate::sys::{ENDS_THREADS, at_exit};

/// How long the end of the process waits for reads. One from a pipe may never end.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Default)]
struct State {
    /// Writes accepted in this process and not finished.
    writes: usize,
    exiting: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    writes: 0,
    exiting: false,
});
static QUIET: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the process does not end before one more write is done.
pub(super) fn accept_write() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| at_exit(end));
    lock().writes += 1;
}

/// Takes a finished write off the count.
pub(super) fn finished_write() {
    let mut state = lock();
    state.writes -= 1;
    if state.writes == 0 && state.exiting {
        QUIET.notify_all();
    }
}

/// The last that is done. What closing reports of files that were written in the background, JavaScript can no longer be
/// told.
extern "C" fn end() {
    // The C library, which calls this, cannot be unwound into.
    drop(catch_unwind(|| {
        wait();
        let mut stderr = io::stderr();
        for error in Closer::global().drain() {
            // Where nobody reads any more, nobody is told; `eprintln!` would panic.
            drop(writeln!(stderr, "smallfry: {error}"));
        }
    }));
}

/// Drops reads and waits for all accepted writes: nothing happens after this but the end of the process.
pub(super) fn wait() {
    drop_reads();
    let mut state = lock();
    state.exiting = true;
    while state.writes > 0 {
        state = QUIET.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    drop(state);
    bulk::finish_commits();
}

/// Waits until no thread is in the middle of a read, but not for long, where threads are ended wherever they are: one that
/// held a lock of the system's could keep the end waiting for ever.
pub(super) fn wait_for_reads() {
    let began = Instant::now();
    while ENDS_THREADS && (is_at_work() || bulk::are_at_work()) && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(1));
    }
}
