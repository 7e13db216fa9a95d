//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;
use crate::bench::results::RowResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Target {
    Disk,
    Tmpfs,
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Function {
    #[serde(rename = "writeFileSync")]
    Write,
    #[serde(rename = "appendFileSync")]
    Append,
}

/// The way in which the file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Addressing {
    /// By path; the file is not there.
    New,
    /// By path; the file is there (for append: appended to).
    Overwritten,
    /// By path; the null device.
    Path,
    /// By a descriptor that the caller holds open.
    Fd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// In UTF-16 units.
    pub(super) length: u32,
    pub(super) text: Text,
    pub(super) function: Function,
    pub(super) data: Data,
    pub(super) target: Target,
    pub(super) addressing: Addressing,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [text, function, target] = [word(self.text), word(self.function), word(self.target)];
        let by_path = matches!(self.addressing, Addressing::New | Addressing::Overwritten);
        let addressing = [if by_path { "path " } else { "" }, &word(self.addressing)].concat();
        let Self { length, data, .. } = self;
        write!(f, "{length} {text} {data} {function} {target} {addressing}")
    }
}

impl Case {
    /// Names the case in few words: what is the usual kind goes without saying.
    pub(super) fn short(&self) -> String {
        let name = self.to_string().replace(" string writeFileSync", "");
        name.replace(" path new", " new")
            .replace(" path over", " over")
    }

    /// Returns true if the file system of `--dir` looks the path up each time. Elsewhere the
    /// overhead is what is seen.
    pub(super) fn is_by_path_on_disk(&self) -> bool {
        self.target == Target::Disk && self.addressing != Addressing::Fd
    }
}

/// One batch of samples of one case.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    #[serde(flatten)]
    pub(super) case: Case,
    pub(super) pattern: String,
    /// The path of the file; for [`Addressing::New`] the prefix of the paths of the files.
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) batch: Batch,
    /// A file that grows is cut back, untimed, before it passes this many bytes.
    pub(super) grow_to: u64,
}

pub(super) const NODE: &str = "node:fs";
/// The baseline once more: what differs between the two is noise.
pub(super) const NODE_AA: &str = "node:fs A/A";
pub(super) const BEFORE: &str = "before";
pub(super) const SMALLFRY: &str = "smallfry";
pub(super) const STD: &str = "std";
pub(super) const SMALLFRY_RUST: &str = "smallfry Rust";

pub(super) const ON_NODE: [RowOf; 3] = [
    (NODE, Functions::Node, Style::Sync),
    (BEFORE, Functions::Before, Style::Sync),
    (SMALLFRY, Functions::Smallfry, Style::Sync),
];

pub(super) const IN_RUST: [RowOf; 3] = [
    (STD, Functions::Std, Style::Sync),
    (SMALLFRY_RUST, Functions::Smallfry, Style::Sync),
    (RAW, Functions::Raw, Style::Sync),
];

/// Returns how many calls a sample timed.
pub(super) fn calls(result: &CaseResult<Case>) -> u32 {
    let mut runs = result.outcomes.iter().flat_map(RowResult::done);
    runs.next().map_or(1, |run| run.calls)
}

/// Returns the percentiles of all samples of the row.
pub(super) fn percentiles(result: &CaseResult<Case>, row: usize) -> Option<Percentiles> {
    let runs = result.outcomes[row].done();
    let samples = runs.flat_map(|run| run.samples_ns.iter().copied());
    Percentiles::of(samples, calls(result))
}

/// Returns nanoseconds per call.
pub(super) fn call_ns(run: &Times) -> Option<f64> {
    let calls = f64::from(run.calls.max(1));
    median(run.samples_ns.iter().map(|ns| *ns as f64 / calls))
}

/// Returns calls per second.
pub(super) fn rate(run: &Times) -> Option<f64> {
    let total: u64 = run.samples_ns.iter().sum();
    let calls = run.samples_ns.len() as f64 * f64::from(run.calls);
    (total > 0).then(|| calls * 1e9 / total as f64)
}
