//! The crate `rayon`: its global pool, or the one whose thread hands the file over.

use super::Job;

pub(super) fn spawn(job: Job) {
    // Behind what waits already: files can wait, and a job that asks for another must not come first again.
    ::rayon::spawn_fifo(|| job.run());
}
