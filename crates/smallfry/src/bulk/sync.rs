//! What the threads of a batch share: from the standard library or, to explore how they may interleave, from loom.

#[cfg(loom)]
use loom::sync as platform;
#[cfg(not(loom))]
use std::sync as platform;

pub(super) use platform::Arc;
pub(super) use platform::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(super) use platform::{Condvar, Mutex, MutexGuard};
pub(super) use std::sync::PoisonError;
