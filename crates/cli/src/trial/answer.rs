//! The result of a trial.

use super::counts::Counts;
use super::process::Usage;
use super::seen::Comparison;
use super::start::Start;
use super::subject::Side;
use super::system_calls::Summary;
use std::process::ExitStatus;
use std::time::Duration;

/// The result of a trial.
pub(super) enum Answer {
    Compared(Box<Results>),
    /// A run of the command failed.
    Failed(FailedRun),
    /// Nothing was compared, because both sides would have been the same.
    NoDifference(Sameness),
}

/// The reason why there is nothing to compare.
pub(super) enum Sameness {
    /// No process loaded smallfry. Holds the system calls, or the reason why they are unknown.
    NotLoaded(Result<Summary, String>),
    /// smallfry was loaded, but its addon does not work for this reason.
    NotNative(String),
    /// The command loads smallfry by itself.
    AlreadyLoaded,
    /// Only launchers such as npm loaded smallfry, and not the command proper.
    OnlyLaunchers(Counts),
}

pub(super) struct FailedRun {
    pub(super) side: Side,
    pub(super) status: ExitStatus,
    /// The end of the output.
    pub(super) tail: String,
    /// The number of successful runs before, in [`Side::BOTH`]'s order.
    pub(super) before: [usize; 2],
}

pub(super) struct Results {
    pub(super) pairs: Vec<Pair>,
    pub(super) comparison: Comparison,
    pub(super) counts: Result<Counts, String>,
    /// The cost of loading smallfry, if Node could be started alone.
    pub(super) start: Option<Start>,
    /// The time of all runs, and of what was done between them.
    pub(super) took: Duration,
}

/// One run of each side, in [`Side::BOTH`]'s order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair(pub(super) [Usage; 2]);
