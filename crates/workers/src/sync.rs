//! Locks and atomics from the standard library, or from loom in tests that explore interleavings.

#[cfg(loom)]
use loom::sync as platform;
#[cfg(not(loom))]
use std::sync as platform;

pub use platform::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
pub use platform::{Condvar, Mutex, MutexGuard};
// loom's `Arc` cannot be a method's receiver; counting references is not what is explored.
pub use std::sync::{Arc, PoisonError};

#[cfg(loom)]
pub use clock::Instant;
#[cfg(not(loom))]
pub use std::time::Instant;

/// Time stands still: loom repeats what it has explored, and has to find the same again.
#[cfg(loom)]
mod clock {
    use std::time::Duration;

    #[derive(Clone, Copy)]
    pub struct Instant;

    impl Instant {
        pub fn now() -> Self {
            Self
        }

        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        pub fn duration_since(&self, _: Self) -> Duration {
            Duration::ZERO
        }
    }
}
