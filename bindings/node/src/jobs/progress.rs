//! How far a job is.

use crate::mailbox::JobResult;

/// The outcome of a slice.
pub(crate) enum Progress {
    More,
    Done(JobResult),
}
