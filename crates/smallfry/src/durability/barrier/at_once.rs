//! Work that waits for the disk, as much of it at once as is of use.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::sys;

/// Threads at most. A disk serves some dozens of flushes at once, and a journal or a server any number by one wait.
const MOST_THREADS: usize = 128;
/// Below this a flush does not wait, or hardly, and there is nothing to gain from more threads than processors.
const SHORT: Duration = Duration::from_micros(200);
/// Enough to flush, close and rename. In bytes.
const STACK: usize = 256 << 10;

/// Calls `work` with each item. The first is done here, and tells how many threads the others are worth. Where the system has
/// none to give it is done here, all of it.
pub(super) fn at_once<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let items = Mutex::new(items.into_iter());
    let lock = || items.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(first) = lock().next() else {
        return;
    };
    let began = Instant::now();
    work(first);
    let is_short = began.elapsed() < SHORT;
    let work_off = || {
        loop {
            // In a statement of its own: the lock is not held while it works.
            let item = lock().next();
            let Some(item) = item else {
                return;
            };
            work(item);
        }
    };
    let left = lock().len();
    let threads = if is_short {
        left.min(sys::available_cores().get())
    } else {
        left.min(MOST_THREADS)
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            let thread = Builder::new().name("smallfry".into()).stack_size(STACK);
            if thread.spawn_scoped(scope, work_off).is_err() {
                break;
            }
        }
        work_off();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn everything_is_done_once() {
        for pause in [Duration::ZERO, 2 * SHORT] {
            for count in [0, 1, 2, 300] {
                let sum = AtomicUsize::new(0);
                at_once((1..=count).collect(), |number| {
                    thread::sleep(pause);
                    sum.fetch_add(number, Ordering::Relaxed);
                });
                assert_eq!(sum.into_inner(), count * (count + 1) / 2);
            }
        }
    }
}
