//! What threads share: from the standard library or, to explore how they may interleave, from loom.

#[cfg(loom)]
use loom::sync as platform;
#[cfg(not(loom))]
use std::sync as platform;

pub(crate) use platform::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
pub(crate) use platform::{Condvar, Mutex, MutexGuard};
// loom's `Arc` cannot be a method's receiver; counting references is not what is explored.
pub(crate) use std::sync::{Arc, PoisonError};

#[cfg(loom)]
pub(crate) use clock::Instant;
#[cfg(not(loom))]
pub(crate) use std::time::Instant;

/// Time stands still: loom repeats what it has explored, and has to find the same again.
#[cfg(loom)]
mod clock {
    use std::time::Duration;

    #[derive(Clone, Copy)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        pub(crate) fn duration_since(&self, _: Self) -> Duration {
            Duration::ZERO
        }
    }
}
