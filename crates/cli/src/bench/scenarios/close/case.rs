//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;
use crate::bench::runtime::norad;
use smallfry_bench_closing::{Backend, Policy};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{files} {}{}", word(self.work), if self.watched { " watched" } else { "" })]
pub(crate) struct Case {
    pub(super) work: Work,
    /// Glyphs, each in a file of its own.
    pub(super) files: usize,
    pub(super) watched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Work {
    Write,
    Norad,
    NoradRayon,
}

impl Work {
    /// Returns the runtime of its rows, if the programs were built.
    pub(super) fn runtime(self) -> Option<Runtime> {
        match self {
            Self::Write => Some(Runtime::native()),
            work => norad::find(work == Self::NoradRayon),
        }
    }
}

pub(super) const WORKS: [Work; 3] = [Work::Write, Work::Norad, Work::NoradRayon];

/// One run: the glyphs' files written, or, through norad, the font loaded and saved.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    /// The directory of the font.
    pub(super) font: String,
    /// The prefix of the path of each glyph's file, or the path of norad's font. Nothing is there.
    pub(super) target: String,
}

/// The writer closes.
pub(super) const PLAIN: &str = "std";
pub(super) const DESIGN: &str = "close_already's design";
pub(super) const DESIGN_UNBOUNDED: &str = "close_already's design, unbounded threads";
/// The baseline through a mount that adds no delay, beside a slow disk.
pub(super) const STD_MOUNT_ALONE: &str = "std, mount alone";

/// Names the row in which smallfry closes that way.
pub(super) fn closer(policy: Policy, backend: Backend) -> String {
    match backend {
        Backend::Threads => format!("smallfry {policy:?}"),
        others => format!("smallfry {policy:?}, {}", word(others)),
    }
}
