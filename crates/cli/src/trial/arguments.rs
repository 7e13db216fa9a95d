//! The command line of `smallfry try`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Exit status: 0 if the command did the same with and without smallfry, 1 if it did not, failed, or could not be compared.

Examples:
  smallfry try --outputs dist --prepare 'rm -rf dist' -- npm run build
  smallfry try -- node build.js --minify
  smallfry try -- 'tsc && node build.js'")]
pub(crate) struct Arguments {
    /// Measure so many pairs of runs, however long they take [default: 10 if they take two minutes at most, 6 if five,
    /// 3 at least; more of a short command]. Fewer than 6 tell whether it does the same, but not whether it gains
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,

    /// Have the shell run CMD before each run, not measured; for example to remove outputs and caches
    #[arg(long, value_name = "CMD")]
    pub(crate) prepare: Option<String>,

    /// Compare what the command makes in this directory, or this file; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) outputs: Vec<PathBuf>,

    /// Go on when the command ends with another exit status than 0, as linters do that find something
    #[arg(long)]
    pub(crate) allow_failure: bool,

    /// Directory of the npm package smallfry [default: the one that was built with this command]
    #[arg(long, value_name = "DIR", env = "SMALLFRY_NODE_PACKAGE")]
    pub(crate) package: Option<PathBuf>,

    /// Write every sample to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The command and its arguments; a single word with spaces in it is run by the shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
