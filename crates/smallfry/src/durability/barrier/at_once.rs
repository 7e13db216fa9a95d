//! Work that waits for the disk, as much of it at once as is of use.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope};
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use crate::sys;

/// Threads at most. A disk serves some dozens of flushes at once, and a journal or a server any number by one wait.
const MAX_THREADS: usize = 128;
/// What a flush costs besides waiting: system calls, and waking who waits. Threads are of use until they keep a processor busy
/// with that.
const OF_EACH: Duration = Duration::from_micros(40);
/// Enough to flush, close and rename. In bytes.
pub(super) const STACK: usize = 256 << 10;

/// How many threads are of use where a flush takes so long when it is alone. Those that wait for each other take longer, which is
/// no reason for even more threads.
pub(super) fn max_threads(took: Duration) -> usize {
    let together = took.as_micros() / OF_EACH.as_micros();
    let together = usize::try_from(together).unwrap_or(MAX_THREADS);
    // Each may have a directory open.
    let most = MAX_THREADS.min(sys::descriptor_limit() / 8);
    together.max(sys::available_cores().get()).min(most).max(1)
}

/// Calls `work` with each item, the first here. Threads join as soon as one of them took long, or a processor is free. Where the
/// system has none to give, everything is done here.
pub(super) fn at_once<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    if items.len() < 2 {
        return items.into_iter().for_each(work);
    }
    let workers = Workers {
        items: Mutex::new(items.into_iter()),
        work,
        threads: AtomicUsize::new(1),
        quickest: AtomicU64::new(u64::MAX),
    };
    thread::scope(|scope| workers.work_off(scope));
}

struct Workers<T, W> {
    items: Mutex<IntoIter<T>>,
    work: W,
    threads: AtomicUsize,
    /// In nanoseconds.
    quickest: AtomicU64,
}

impl<T: Send, W: Fn(T) + Sync> Workers<T, W> {
    fn work_off<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        loop {
            let (item, left) = {
                let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
                (items.next(), items.len())
            };
            let Some(item) = item else {
                return;
            };
            let began = Instant::now();
            (self.work)(item);
            let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let quickest = self.quickest.fetch_min(took, Ordering::Relaxed).min(took);
            self.recruit(scope, max_threads(Duration::from_nanos(quickest)).min(left));
        }
    }

    /// Has as many threads at work as `wanted`, and leaves it if the system has no more.
    fn recruit<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, wanted: usize) {
        let more = |threads| (threads < wanted).then_some(threads + 1);
        while self
            .threads
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
        {
            let thread = Builder::new().name("smallfry".into()).stack_size(STACK);
            let spawned = thread.spawn_scoped(scope, || self.work_off(scope));
            if spawned.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        for pause in [Duration::ZERO, 10 * OF_EACH] {
            for count in [0, 1, 2, 300] {
                let sum = AtomicUsize::new(0);
                at_once((1..=count).collect(), |number| {
                    // The first tells nothing of the others.
                    if number > 1 {
                        thread::sleep(pause);
                    }
                    sum.fetch_add(number, Ordering::Relaxed);
                });
                assert_eq!(sum.into_inner(), count * (count + 1) / 2);
            }
        }
    }
}
