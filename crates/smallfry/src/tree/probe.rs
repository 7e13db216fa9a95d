//! Tells from the first operations of many whether they are slow.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The number of operations after which it is known whether they are slow.
const PROBED: u32 = 16;
/// The time above which an operation is slow, since it waits for a disk or a server. Shorter
/// operations wait for locks of the file system at most.
const SLOW: Duration = Duration::from_micros(200);

/// The times of the first operations.
#[derive(Default)]
pub(crate) struct Probe {
    operations: AtomicU32,
    slow: AtomicU32,
}

impl Probe {
    /// Does an operation. It is timed if it is one of the first.
    pub(crate) fn run<T>(&self, operation: impl FnOnce() -> T) -> T {
        if self.is_over() {
            return operation();
        }
        let began = Instant::now();
        let result = operation();
        if began.elapsed() > SLOW {
            self.slow.fetch_add(1, Ordering::Relaxed);
        }
        self.operations.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// Returns true after the first operations.
    pub(crate) fn is_over(&self) -> bool {
        self.operations.load(Ordering::Relaxed) >= PROBED
    }

    /// Returns true if most of the first operations were slow.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed) > PROBED / 2
    }
}
