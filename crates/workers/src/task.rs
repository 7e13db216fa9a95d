//! The work for one input, and what it may ask of its batch.

use std::time::Duration;

/// The work that a batch does for each input.
pub trait Task: Send + Sync {
    /// The input of one operation: a name, a request, a job.
    type Input: Send;
    /// The result. Errors are results, too.
    type Output: Send;
    /// Memory that a worker keeps from one input to the next: a buffer, an arena.
    type Scratch: Default + Send;

    /// Does the work. It may block.
    fn run(
        &self,
        scratch: &mut Self::Scratch,
        input: Self::Input,
        context: &mut TaskContext<'_>,
    ) -> Self::Output;

    /// Makes the result of an input that was cancelled before it began.
    fn cancelled(&self, input: Self::Input) -> Self::Output;

    /// Returns true for a result that is an error.
    fn failed(&self, _output: &Self::Output) -> bool {
        false
    }

    /// Returns the bytes that an input holds in memory until its result is consumed.
    ///
    /// They count as in flight from the moment the input is pushed. A task with such inputs has its
    /// bytes already, so it never waits in [`TaskContext::reserve`].
    fn weight(&self, _input: &Self::Input) -> u64 {
        0
    }

    /// Returns true for an input whose operation is a request to a server, and waits for the
    /// answer.
    ///
    /// With such inputs `Auto` begins with many workers instead of one, and has up to
    /// [`MAX_REQUESTS`](crate::MAX_REQUESTS).
    fn is_request(&self, _input: &Self::Input) -> bool {
        false
    }

    /// Returns a key. Inputs with the same key are done one after the other, in their order.
    fn key(&self, _input: &Self::Input) -> Option<u64> {
        None
    }
}

/// The link of a running task to its batch.
pub struct TaskContext<'b> {
    room: &'b dyn Room,
    owner: &'b dyn Owner,
    index: usize,
    /// The task holds no bytes yet that another task may be waiting for.
    may_wait: bool,
    reserved: u64,
    moved: u64,
    waited: Duration,
}

impl<'b> TaskContext<'b> {
    pub(crate) fn new(
        room: &'b dyn Room,
        owner: &'b dyn Owner,
        index: usize,
        may_wait: bool,
    ) -> Self {
        Self {
            room,
            owner,
            index,
            may_wait,
            reserved: 0,
            moved: 0,
            waited: Duration::ZERO,
        }
    }

    /// Returns the number of the input, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Asks for room for `bytes` of the result.
    ///
    /// The first call waits while too many bytes are in flight. Later calls of the same task do
    /// not wait: two tasks that hold bytes and wait for each other would never end.
    pub fn reserve(&mut self, bytes: u64) {
        let may_wait = std::mem::replace(&mut self.may_wait, false);
        self.waited += self.room.reserve(self.index, bytes, may_wait);
        self.reserved += bytes;
    }

    /// Counts bytes that the operation has moved, from a device or to one. The count goes to
    /// [`Progress`](crate::Progress), and to the measurement of throughput.
    pub fn moved(&mut self, bytes: usize) {
        self.moved += bytes as u64;
    }

    /// Says that the server has answered that it gets too many requests. `Auto` then halves the
    /// number of workers, at most five times a second, and looks for a better one only later.
    pub fn slow_down(&self) {
        self.owner.slow_down();
    }

    /// Returns true if the result is not wanted any more: the batch was cancelled or dropped, or an
    /// input before this one has failed in a batch that fails fast. An operation that waits to try
    /// something again should give up then.
    pub fn is_stopped(&self) -> bool {
        self.owner.is_stopped_at(self.index)
    }

    pub(crate) fn into_used(self) -> Used {
        Used {
            reserved: self.reserved,
            moved: self.moved,
            waited: self.waited,
        }
    }
}

/// The bytes and the time that a task has used.
pub(crate) struct Used {
    pub(crate) reserved: u64,
    pub(crate) moved: u64,
    /// The time in which the task waited for room.
    pub(crate) waited: Duration,
}

/// The batch of a running task.
pub(crate) trait Owner {
    /// Has fewer workers, because the server asks for it.
    fn slow_down(&self);

    /// Returns true if this input must not begin any more.
    fn is_stopped_at(&self, index: usize) -> bool;
}

/// A bound on the bytes in flight.
pub(crate) trait Room {
    /// Counts `bytes` as in flight, and waits for room first if `may_wait`. Returns the time
    /// waited.
    fn reserve(&self, index: usize, bytes: u64, may_wait: bool) -> Duration;
}
