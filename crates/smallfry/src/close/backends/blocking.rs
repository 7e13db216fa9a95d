//! The crate `blocking`: up to 500 threads, for whoever has something that blocks.

use super::Job;

pub(super) fn spawn(job: Job) {
    ::blocking::unblock(|| job.run()).detach();
}
