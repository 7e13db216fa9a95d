//! The options of `smallfry bench`, apart from which scenarios it measures.

use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Serialize)]
pub(crate) struct Options {
    /// Every case of every scenario; takes many minutes
    #[arg(long)]
    pub(crate) all: bool,

    /// Directory on the disk to measure; a fresh directory is made in it, and removed
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Disk to simulate in the directory: hdd, nfs, windows-close, slow-flush, none (real: none is)
    #[arg(long, value_name = "PROFILE", default_value = super::disk::REAL)]
    pub(crate) disk: String,

    /// A Node.js binary; may be repeated to compare versions [default: node on PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) node: Vec<PathBuf>,

    /// A Bun binary, to compare with; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) bun: Vec<PathBuf>,

    /// A Deno binary, to compare with; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) deno: Vec<PathBuf>,

    /// The java binary that runs rows in the JVM [default: java on PATH]
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

    /// Measure so many rounds, however long they take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Measure for about so many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=86_400), conflicts_with = "runs")]
    pub(crate) seconds: Option<u32>,

    /// A few seconds and cases: enough to see that it works, too few to believe the figures
    #[arg(long, conflicts_with_all = ["all", "seconds"])]
    pub(crate) quick: bool,

    /// Write every sample, with the facts about this machine, to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Only cases whose names hold all these words, for example "12288 ascii fd null"
    #[arg(long, value_name = "WORDS", visible_alias = "cases")]
    pub(crate) cells: Option<String>,

    /// Only rows with one of these names, for example "bulk Rust,Rust std"; not in `build`
    ///
    /// A text that is no row's whole name selects every row whose name holds it.
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// Number of files per case (slow disks default to a tenth, except in `fsync-many`)
    ///
    /// In `fsync` the number of writes in a round.
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

impl Options {
    pub(crate) fn extent(&self) -> Extent {
        match (self.quick, self.all) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::All,
            _ => Extent::Core,
        }
    }
}
