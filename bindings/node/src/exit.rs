//! The end of the process: accepted writes are completed before it.
//!
//! `process.exit()` ends the main environment without its clean-up hooks, so an `atexit` handler
//! waits for the writes. On systems without one, JavaScript's `exit` event calls [`wait`].

use std::io::{self, Write};
use std::panic::catch_unwind;
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use smallfry::close::Closer;

use crate::accepted::wait_for_writes;
use crate::bulk;
use crate::jobs::queue;
use crate::sys::{ENDS_THREADS, at_exit};

/// The longest wait for reads at the end of the process: a read from a pipe may never end.
const MAX_WAIT_FOR_READS: Duration = Duration::from_millis(500);

/// Has the end of the process wait for accepted writes.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| at_exit(end));
}

/// Waits for accepted writes, and prints the errors of deferred closes: JavaScript no longer runs.
extern "C" fn end() {
    // A panic must not unwind into the C library, which calls this.
    drop(catch_unwind(|| {
        wait();
        let mut stderr = io::stderr();
        for error in Closer::global().drain() {
            // `eprintln!` would panic where stderr is closed.
            drop(writeln!(stderr, "smallfry: {error}"));
        }
    }));
}

/// Drops reads that have not begun, cancels copies and removals of trees, and waits for all
/// accepted writes. Nothing may be handed in afterwards.
pub(crate) fn wait() {
    queue::drop_reads();
    crate::trees::cancel_all();
    wait_for_writes();
    bulk::finish_commits();
}

/// Waits for a short time until no thread is in the middle of a read, where the system ends threads
/// wherever they are. A thread that ended while it held a lock of the system's could keep the
/// process from ending.
pub(crate) fn wait_for_reads() {
    let began = Instant::now();
    while ENDS_THREADS
        && (queue::is_at_work() || bulk::are_at_work())
        && began.elapsed() < MAX_WAIT_FOR_READS
    {
        thread::sleep(Duration::from_millis(1));
    }
}
