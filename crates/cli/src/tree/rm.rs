//! `smallfry rm`.

use super::lines::{Lines, quoted};
use super::summary::{Summary, Total};
use super::watch::Watch;
use serde_json::Map;
use smallfry::bulk::Strategy;
use smallfry::tree::Remover;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

const NAME: &str = "smallfry rm";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
A link is removed itself, never what it leads to. Paths that end in `.` or `..`, the root, and
directories on which another file system is mounted are refused.

Exit status: 0 if everything was removed, 1 if not, 130 after Ctrl-C.

Examples:
  smallfry rm node_modules dist
  smallfry rm -f build    # no error if there is none")]
pub(crate) struct Arguments {
    /// Accepted: directories are always removed
    #[arg(short = 'r', short_alias = 'R', long)]
    recursive: bool,

    /// A path that does not exist is no error
    #[arg(short, long)]
    force: bool,

    /// Print each removed entry, in the order in which they are done
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Remove what is in directories of other file systems, too
    #[arg(long)]
    mounts: bool,

    /// Work with so many threads; the default is as many as pay, which is measured meanwhile
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// File or directory to remove
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let watch = Watch::begin("removed");
    let mut remover = Remover::new();
    remover
        .control(watch.control())
        .missing_ok(arguments.force)
        .mounts(arguments.mounts);
    if let Some(threads) = arguments.threads {
        remover.strategy(Strategy::Threads(threads));
    }
    let lines = Lines::new(&watch);
    if arguments.verbose {
        let lines = lines.clone();
        remover.on_entry(move |path, is_directory| {
            let what = if is_directory { "directory " } else { "" };
            lines.put(&format!("removed {what}{}", quoted(path)));
        });
    }
    let mut total = Total::default();
    for path in &arguments.paths {
        total.add(remover.remove(path));
    }
    lines.flush();
    let stopped = watch.end();
    Summary {
        name: NAME,
        done: "removed",
        total,
        stopped,
        members: Map::new(),
    }
    .print(arguments.json)
}
