//! A hold on a batch from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cancels a batch, and tells how far it is, from any thread. Clones hold the same batch.
///
/// What has not begun when [`cancel`](Self::cancel) is called is not done. What had been handed to threads by then gets an
/// error for which [`Error::is_cancelled`](crate::Error::is_cancelled) holds; what is behind it has no result. What has
/// begun is brought to its end.
///
/// ```
/// use smallfry::bulk::{Control, Reader};
///
/// let control = Control::new();
/// control.cancel();
/// let mut results = Reader::new().control(&control).read(["a", "b"]);
/// assert!(results.next().is_none_or(|(_, result)| result.unwrap_err().is_cancelled()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    operations: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Entries that have a result, errors among them.
    pub operations: u64,
    /// Entries whose result is an error.
    pub failed: u64,
    /// Bytes read, written or copied.
    pub bytes: u64,
}

impl Control {
    /// For one batch, or for several that are cancelled and counted together.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing more is begun. That cannot be taken back.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// How far it is now.
    pub fn progress(&self) -> Progress {
        Progress {
            operations: self.0.operations.load(Ordering::Relaxed),
            failed: self.0.failed.load(Ordering::Relaxed),
            bytes: self.0.bytes.load(Ordering::Relaxed),
        }
    }

    /// Whether anybody else holds it, who could ask.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(super) fn count(&self, failed: bool, bytes: u64) {
        self.0.operations.fetch_add(1, Ordering::Relaxed);
        if failed {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
        }
        if bytes > 0 {
            self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}
