//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;

/// The phases, in the order in which they run.
pub(super) const PHASES: &str = "clean|walk|type|read|transform|write|close|assets|publish";
/// Stands for write and, where a row tells it apart, close.
pub(super) const WRITE_AND_CLOSE: &str = "write and close";
/// Stands for every phase but publish, whose waits for the device drown the others.
pub(super) const BUT_PUBLISH: &str = "all but publish";
pub(super) const EXTENSIONS: [&str; 5] = ["js", "cjs", "mjs", "json", "ts"];

/// The one case; the bench fills it in when it has seen the tree.
#[derive(Default, Serialize, Display)]
#[display("build")]
pub(crate) struct Case {
    pub(super) tree: PathBuf,
    /// Source files found, those beyond the maximum included.
    pub(super) files_found: usize,
    pub(super) files: usize,
    pub(super) bytes: usize,
    /// Files that are copied as they are.
    pub(super) assets: usize,
    pub(super) published: usize,
    /// The part of a sample of the sources that was in the page cache at the end.
    pub(super) cached: Option<f64>,
}

/// One run.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) style: Style,
    pub(super) tree: String,
    /// The file name extensions to take, without the dot.
    pub(super) extensions: Vec<String>,
    /// The maximum number of files, first in the order of their paths.
    pub(super) files: usize,
    /// The directory to write to; the directories in it are there, files are not.
    pub(super) output: String,
    /// The directory to publish to; likewise.
    pub(super) published: String,
    /// The maximum number of files to publish.
    pub(super) publish: usize,
    /// The directory that the last build has written, to be removed.
    pub(super) last: String,
    /// The directory to copy, and the place of the copy, where nothing is.
    pub(super) assets: String,
    pub(super) copied: String,
}

pub(super) const IDIOMS: [RowOf; 2] = [
    (NODE_SYNC, Functions::Node, Style::Sync),
    (NODE_PARALLEL, Functions::Node, Style::Parallel),
];

pub(super) const IN_JVM: [RowOf; 2] = [
    ("Java Files", Functions::JavaFiles, Style::Sync),
    rows::BULK_JVM,
];

/// Returns the time of a phase, of [`WRITE_AND_CLOSE`], of [`BUT_PUBLISH`], or of all phases;
/// `None` where the row has no such phase.
pub(super) fn phase(run: &Times, part: &str) -> Option<f64> {
    let counts = |name: &str| match part {
        "" => true,
        BUT_PUBLISH => name != "publish",
        WRITE_AND_CLOSE => matches!(name, "write" | "close"),
        part => name == part,
    };
    let phases = run.phases.iter().filter(|(name, _)| counts(name));
    phases.map(|(_, ns)| *ns as f64).reduce(|a, b| a + b)
}
