//! The command line of `smallfry try`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Exit status: 0 if the command did the same with and without smallfry, 1 if it did not, if it failed,
or if it could not be compared.

Examples:
  smallfry try --outputs dist --prepare 'rm -rf dist' -- npm run build
  smallfry try -- node build.js --minify
  smallfry try -- 'tsc && node build.js'")]
pub(crate) struct Arguments {
    /// Number of pairs of runs [default: as many as fit, at least 3]
    ///
    /// By default more than 3 pairs run only within 5 minutes, more than 6 within 2 minutes, and
    /// more than 10 within 10 seconds; 40 is the maximum. Fewer than 6 pairs show whether the
    /// command does the same, but not whether it gains.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Minimum number of pairs of runs, however long they take
    #[arg(long, value_name = "N", conflicts_with = "runs", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) min_runs: Option<u32>,

    /// Number of pairs that run first and are not measured; the first is counted
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) warmup: u32,

    /// Shell command to run before each run, for example to remove outputs
    ///
    /// Its time is not measured.
    #[arg(long, value_name = "CMD")]
    pub(crate) prepare: Option<String>,

    /// Directory or file that the command writes, to be compared; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) outputs: Vec<PathBuf>,

    /// Continue when the command exits with a status other than 0, as linters do
    #[arg(long)]
    pub(crate) allow_failure: bool,

    /// Directory of the npm package smallfry [default: the one built with this command]
    #[arg(long, value_name = "DIR", env = "SMALLFRY_NODE_PACKAGE")]
    pub(crate) package: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) exports: crate::export::ExportOptions,

    /// Write the times in hyperfine's JSON form to FILE, for programs that plot them
    #[arg(long, value_name = "FILE")]
    pub(crate) export_hyperfine: Option<PathBuf>,

    /// Show every table and sentence, not only the answer on one screen
    #[arg(long)]
    pub(crate) details: bool,

    /// Seed of the random order of runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The command and its arguments; the shell runs a single word with spaces in it
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
