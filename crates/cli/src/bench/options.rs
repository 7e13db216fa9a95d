//! The options of `smallfry bench`, apart from which scenarios it measures.

use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Serialize)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Options {
    /// List the scenarios, and what each measures
    #[arg(long)]
    pub(crate) list: bool,

    /// Measure every case of every scenario, for many minutes
    #[arg(long)]
    pub(crate) all: bool,

    /// Directory on the disk to measure; the bench cleans up what it makes there
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Slow disk to simulate: hdd, nfs, windows-close, slow-flush or none
    ///
    /// `none` adds no delay, and shows the cost of the simulation; `real` simulates nothing.
    #[arg(long, value_name = "PROFILE", default_value = super::disk::REAL)]
    pub(crate) disk: String,

    /// Node.js binary; repeat it to compare versions [default: node on PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) node: Vec<PathBuf>,

    /// Bun binary to compare with; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) bun: Vec<PathBuf>,

    /// Deno binary to compare with; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) deno: Vec<PathBuf>,

    /// Java binary for the rows in the JVM [default: java on PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) java: Option<PathBuf>,

    /// Directory of the npm package smallfry [default: the one built with this command]
    #[arg(long, value_name = "DIR", env = "SMALLFRY_NODE_PACKAGE")]
    pub(crate) package: Option<PathBuf>,

    /// Leave out smallfry on Node, to compare Node versions alone
    #[arg(long)]
    pub(crate) no_smallfry: bool,

    /// Source tree that `build` reads and `package-scope` asks about
    ///
    /// By default this project's npm development dependencies, and for `package-scope` the packages
    /// that `make bench-peers` installs.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,

    /// Number of rounds, however long they take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Minimum number of rounds, even if they take longer than planned
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "runs")]
    pub(crate) min_runs: Option<u32>,

    /// Number of rounds that run first and are not counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000), default_value_t = 1)]
    pub(crate) warmup: u32,

    /// Approximate time to measure, in seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=86_400), conflicts_with = "runs")]
    pub(crate) seconds: Option<u32>,

    /// Measure for a few seconds: shows that it works, with figures too rough to use
    #[arg(long, conflicts_with_all = ["all", "seconds"])]
    pub(crate) quick: bool,

    /// Show every table and sentence, not only the answer on one screen
    #[arg(long)]
    pub(crate) details: bool,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) exports: crate::export::ExportOptions,

    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Only cases whose names have all these words: "12288 ascii fd null"
    #[arg(long, value_name = "WORDS", visible_alias = "cases")]
    pub(crate) cells: Option<String>,

    /// Only rows with these names, except in `build`: "bulk Rust,Rust std"
    ///
    /// A text that is no row's whole name selects every row whose name holds it.
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// Number of files per case
    ///
    /// By default each scenario has its own; slow disks get a tenth of it, except in `fsync-many`.
    /// In `fsync` it is the number of writes in a round.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) files: Option<u32>,

    /// Bytes per file, except in `close`; in `fsync` the number of characters
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) size: Option<u32>,
}

/// The extent of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Quick,
    /// The cases that tell most.
    Core,
    All,
}

impl Extent {
    /// Returns the first where a few seconds are all the time, else the second.
    pub(crate) fn pick<T>(self, quick: T, usual: T) -> T {
        if self == Self::Quick { quick } else { usual }
    }
}

impl Options {
    pub(crate) fn extent(&self) -> Extent {
        match (self.quick, self.all) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::All,
            _ => Extent::Core,
        }
    }
}
