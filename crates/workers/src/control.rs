//! A handle that cancels batches and shows their progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cancels a batch and shows its progress, from any thread. Clones control the same batch.
///
/// Inputs that have not begun when [`cancel`](Self::cancel) is called are not done. Those that were
/// handed to workers get the result [`Task::cancelled`](crate::Task::cancelled). Those after them
/// have none. Operations in flight run to their end.
///
/// ```
/// use smallfry_workers::{BatchOptions, Control, Task, TaskContext, run_all};
///
/// struct Sleep;
///
/// impl Task for Sleep {
///     type Input = u64;
///     type Output = bool;
///     type Scratch = ();
///
///     fn run(&self, (): &mut (), millis: u64, _: &mut TaskContext<'_>) -> bool {
///         std::thread::sleep(std::time::Duration::from_millis(millis));
///         true
///     }
///
///     fn cancelled(&self, _: u64) -> bool {
///         false
///     }
/// }
///
/// let control = Control::new();
/// control.cancel();
/// let options = BatchOptions { control: control.clone(), ..BatchOptions::default() };
/// assert!(run_all(Sleep, options, [1000, 1000]).is_empty());
/// assert_eq!(control.progress().operations, 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    operations: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    reached: AtomicU64,
    end: AtomicU64,
}

/// The progress of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of results, errors among them.
    pub operations: u64,
    /// The number of results that are errors.
    pub failed: u64,
    /// The number of bytes that operations have [moved](crate::TaskContext::moved).
    pub bytes: u64,
    /// The position in an input that is read from its start to its [`end`](Self::end).
    pub reached: u64,
    /// The end of that input, in the same unit; 0 if it is not known.
    pub end: u64,
}

impl Control {
    /// Makes a control for one batch, or for several that are cancelled and counted together.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins nothing more. This cannot be taken back.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns true after [`cancel`](Self::cancel).
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the progress so far.
    pub fn progress(&self) -> Progress {
        Progress {
            operations: self.0.operations.load(Ordering::Relaxed),
            failed: self.0.failed.load(Ordering::Relaxed),
            bytes: self.0.bytes.load(Ordering::Relaxed),
            reached: self.0.reached.load(Ordering::Relaxed),
            end: self.0.end.load(Ordering::Relaxed),
        }
    }

    /// Returns true if another clone exists, which could ask for the progress.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Tells how far an input was read, of which one part comes after the other, such as an archive.
    pub fn reach(&self, reached: u64, end: u64) {
        self.0.reached.store(reached, Ordering::Relaxed);
        self.0.end.store(end, Ordering::Relaxed);
    }

    /// Counts bytes of an operation that is not done yet. It must not count them again.
    pub fn moved(&self, bytes: u64) {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts an operation that is done, in a queue of your own.
    pub fn count(&self, failed: bool, bytes: u64) {
        self.0.operations.fetch_add(1, Ordering::Relaxed);
        if failed {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
        }
        if bytes > 0 {
            self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}
