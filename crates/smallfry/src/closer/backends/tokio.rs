//! The blocking threads of a tokio runtime.

use ::tokio::runtime::Handle as Runtime;

use super::Job;

pub(super) fn spawn(job: Job) {
    match Runtime::try_current() {
        // A runtime that has ended drops the job, and the job then finds a thread by itself.
        Ok(runtime) => drop(runtime.spawn_blocking(|| job.run())),
        Err(_) => job.on_own_thread(),
    }
}
