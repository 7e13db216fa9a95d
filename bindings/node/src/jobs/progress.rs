//! The progress of a job.

use crate::mailbox::JobResult;

/// The outcome of a slice.
pub(crate) enum Progress {
    More,
    Done(JobResult),
}
