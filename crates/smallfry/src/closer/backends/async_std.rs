//! The blocking threads of async-std, which is discontinued.

use super::Job;

pub(super) fn spawn(job: Job) {
    drop(::async_std::task::spawn_blocking(|| job.run()));
}
