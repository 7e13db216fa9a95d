//! The crate `blocking`: up to 500 threads for blocking work.

use super::Job;

pub(super) fn spawn(job: Job) {
    ::blocking::unblock(|| job.run()).detach();
}
