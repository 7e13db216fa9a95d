//! The options of a batch.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::control::Control;

/// The default bound on bytes in flight.
pub const MAX_IN_FLIGHT: u64 = 32 << 20;

/// The number of operations of a batch that run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Found by measuring while the batch runs. It begins with the calling thread alone.
    #[default]
    Auto,
    /// One after the other, on the calling thread.
    CallingThread,
    /// This many, the calling thread among them.
    Threads(NonZeroUsize),
}

/// The options of a batch.
pub struct BatchOptions {
    /// The number of operations that run at once.
    pub strategy: Strategy,
    /// The maximum number of workers, for tasks that use up a limited resource such as descriptors.
    pub max_workers: usize,
    /// The maximum number of bytes that wait to be consumed.
    pub max_in_flight: u64,
    /// Cancels the batch and shows its progress.
    pub control: Control,
    /// Begins nothing more after the first error.
    pub fail_fast: bool,
    /// Set by a consumer that is told of results instead of waiting for them.
    pub notify: Option<Notify>,
}

/// The call that tells a consumer of results.
pub struct Notify {
    /// Called once on any thread, without a lock, until results are taken.
    ///
    /// It is also called when there is nothing more to take: the batch was closed after its last
    /// result was taken, or a worker panicked.
    pub call: Box<dyn Fn() + Send + Sync>,
    /// The number of results that are worth a call while others are on their way. 1 calls for each.
    pub min_results: usize,
    /// The time that results may have waited when another one comes before the consumer is called.
    ///
    /// No timer bounds this: without another result they wait for as long as the next operation.
    pub max_delay: Duration,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            max_workers: usize::MAX,
            max_in_flight: MAX_IN_FLIGHT,
            control: Control::new(),
            fail_fast: false,
            notify: None,
        }
    }
}
