//! What a trial finds out.

use super::counts::Counts;
use super::process::Usage;
use super::seen::Comparison;
use super::subject::Side;
use super::system_calls::Summary;
use std::process::ExitStatus;

/// What came of it.
pub(super) enum Answer {
    Compared(Box<Results>),
    /// The command did not succeed.
    Failed(FailedRun),
    /// Nothing was compared, because both sides would have been the same.
    NoDifference(Sameness),
}

/// Why there is nothing to compare.
pub(super) enum Sameness {
    /// No process loaded smallfry; the system calls, or why they are not known.
    NotLoaded(Result<Summary, String>),
    /// It was loaded, but its native half does not work, for this reason.
    NotNative(String),
    /// The command loads it without being made to.
    AlreadyLoaded,
    /// Only what starts the command proper loaded it, as npm does for a script.
    OnlyLaunchers(Counts),
}

pub(super) struct FailedRun {
    pub(super) side: Side,
    pub(super) status: ExitStatus,
    /// The last of what it printed.
    pub(super) tail: String,
    /// How many runs of each side went well before, in [`Side::BOTH`]'s order.
    pub(super) before: [usize; 2],
}

pub(super) struct Results {
    pub(super) pairs: Vec<Pair>,
    pub(super) comparison: Comparison,
    pub(super) counts: Result<Counts, String>,
}

/// One run of each side, in [`Side::BOTH`]'s order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair(pub(super) [Usage; 2]);
