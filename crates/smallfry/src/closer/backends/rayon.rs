//! The pool of rayon: the global one, or the one whose thread hands the file over.

use super::Job;

pub(super) fn spawn(job: Job) {
    // The job goes behind the work that waits already. Files can wait, and a job must not follow
    // itself at once.
    ::rayon::spawn_fifo(|| job.run());
}
