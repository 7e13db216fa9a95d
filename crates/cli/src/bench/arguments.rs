//! The command line of `smallfry bench`.

use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scenario {
    /// A file-heavy build: walk, ask module types, read all, write all, publish durably
    Build,
    /// One string into one file, over lengths, texts and kinds of target
    WriteString,
    /// Many files read whole: kept as Buffers or strings, or thrown away; with a warm cache or a cold one
    ReadMany,
    /// Many small files written, new and overwritten, spread over directories
    WriteMany,
    /// The 3,359 small files of a font written, alone and by the library norad, with each way of closing them
    Close,
    /// Bulk reads of 1,000 to 1,000,000 files: cost a file, and memory
    Scale,
    /// One file written 1,000 times, with and without a flush, each write timed alone
    Sync,
    /// 10 to 1,000 files (with --all 10,000) that must survive a crash of the system, new and replaced: ways to wait for the disk
    SyncMany,
    /// Whether each file's nearest package.json says `module`: real packages, a deep and a wide tree, with nothing remembered and again
    PackageScope,
}

#[derive(Args, Debug, Serialize)]
pub(crate) struct Arguments {
    /// What to measure; nothing named: `build`, and the cases of `write-string` that tell most
    #[arg(value_enum)]
    pub(crate) scenarios: Vec<Scenario>,

    /// Every case of every scenario; takes many minutes
    #[arg(long)]
    pub(crate) all: bool,

    /// Directory on the disk to measure; a fresh directory is made in it, and removed
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// What the directory is on: `real`, or a slow disk that is simulated there: hdd, nfs, windows-close, slow-flush, none
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

    /// Directory of the npm package smallfry [default: the one that was built with this command]
    #[arg(long, value_name = "DIR", env = "SMALLFRY_NODE_PACKAGE")]
    pub(crate) package: Option<PathBuf>,

    /// Leave out smallfry on Node, to compare Node versions alone
    #[arg(long)]
    pub(crate) no_smallfry: bool,

    /// Source tree that `build` reads and `package-scope` asks about [default: this project's npm development dependencies; for
    /// `package-scope` the packages that `make bench-peers` installs]
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,

    /// Measure so many rounds, however long they take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Measure for about so many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=86_400), conflicts_with = "runs")]
    pub(crate) seconds: Option<u32>,

    /// A few seconds and a few cases: enough to see that it works, too few to believe the figures
    #[arg(long, conflicts_with_all = ["all", "seconds"])]
    pub(crate) quick: bool,

    /// Write every sample, with the facts about this machine, to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Only cases whose names hold all these words, for example "12288 ascii fd null", "discarded cold"
    #[arg(long, value_name = "WORDS", visible_alias = "cases")]
    pub(crate) cells: Option<String>,

    /// Of scenarios other than `build` and `write-string` only rows whose names are one of these texts, or hold it if none
    /// is, for example "bulk Rust,Rust std"
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// Those with so many files instead of their own numbers, which are a tenth on a slow disk but for `sync-many`; `sync`
    /// with so many writes in a round
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) files: Option<u32>,

    /// The same with files of so many bytes, but for `close`; `sync` with so many characters
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) size: Option<u32>,
}

impl Arguments {
    /// Those named, else the core ones, with `--all` all.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let mut scenarios = self.scenarios.clone();
        if scenarios.is_empty() {
            scenarios.extend([Scenario::Build, Scenario::WriteString]);
            if self.all {
                scenarios.extend([
                    Scenario::ReadMany,
                    Scenario::WriteMany,
                    Scenario::Close,
                    Scenario::Scale,
                    Scenario::Sync,
                    Scenario::SyncMany,
                    Scenario::PackageScope,
                ]);
            }
        }
        let mut named = Vec::new();
        for scenario in scenarios {
            if !named.contains(&scenario) {
                named.push(scenario);
            }
        }
        named
    }
}
