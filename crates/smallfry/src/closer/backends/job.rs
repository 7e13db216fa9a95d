//! The piece of work that a pool runs.

use std::fmt;
use std::sync::Arc;

use crate::closer::queue::Generation;

/// The owner of a queue that jobs serve.
pub(in crate::closer) trait Serve: Send + Sync {
    /// Closes a few files on this thread, and asks for another job if more wait.
    fn run_slice(self: Arc<Self>, generation: Generation);
    /// Starts a thread of the closer in place of the job.
    fn run_on_own_thread(self: Arc<Self>, generation: Generation);
    /// Replaces a job that its pool has dropped, or that panicked.
    fn lose_job(self: Arc<Self>, generation: Generation);
}

/// A job that closes files that wait.
///
/// If it is dropped without being run, a thread of smallfry replaces it.
pub struct Job(Option<(Arc<dyn Serve>, Generation)>);

impl Job {
    pub(in crate::closer) fn new(owner: Arc<dyn Serve>, generation: Generation) -> Self {
        Self(Some((owner, generation)))
    }

    /// Closes a few files, if any wait, and asks for another job if more do. It blocks for as long
    /// as closing takes. It does not panic.
    pub fn run(mut self) {
        if let Some((owner, generation)) = self.0.take() {
            owner.run_slice(generation);
        }
    }

    pub(super) fn on_own_thread(mut self) {
        if let Some((owner, generation)) = self.0.take() {
            owner.run_on_own_thread(generation);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some((owner, generation)) = self.0.take() {
            owner.lose_job(generation);
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}
