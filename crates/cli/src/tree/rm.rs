//! `smallfry rm`.

use super::expected::{Job, Trees};
use super::lines::Lines;
use super::names::{printable, quoted};
use super::summary::{Summary, Total};
use super::watch::Watch;
use serde_json::Map;
use smallfry::bulk::Strategy;
use smallfry::tree::{Later, Remover};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

const NAME: &str = "smallfry rm";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
A link is removed itself, never what it leads to. Paths that end in `.` or `..`, the root, and
mount points are refused.

With --later a directory gets a hidden name beside it (.NAME.….smallfry), and a background process
removes it. At most two such processes run for each file system; further directories are removed
at once. The exit status does not tell of that process. The next --later resumes the work of a
killed one, and prints what one could not remove.

Exit status: 0 if everything was removed, 1 if not, 130 after Ctrl-C.

Examples:
  smallfry rm node_modules dist
  smallfry rm -f build    # no error if there is none
  smallfry rm --later target && make")]
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

    /// Rename directories at once, and remove them in the background
    #[arg(long, conflicts_with_all = ["mounts", "threads", "verbose"])]
    later: bool,

    /// Remove the tree of the slot that is the standard input
    #[arg(long, hide = true, conflicts_with = "paths")]
    slot: bool,

    /// Remove what is in mount points, too
    #[arg(long)]
    mounts: bool,

    /// Accepted, as `rm` has it: mount points are refused
    #[arg(long, hide = true, conflicts_with = "mounts")]
    one_file_system: bool,

    /// Work with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// File or directory to remove
    #[arg(required_unless_present_any = ["slot", "force", "later"], value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.slot {
        return match Later::remove_given() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let watch = Watch::begin("removed");
    watch.count(Trees {
        paths: arguments.paths.clone(),
        exclude: None,
        job: Job::Remove,
    });
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
    let mut members = Map::new();
    // Without the path of this program everything is removed now.
    let program = arguments.later.then(std::env::current_exe);
    let later = program.and_then(Result::ok);
    let later = later.map(|program| Later::new(program, ["rm", "--slot"]));
    for error in later.iter().flat_map(Later::errors) {
        eprintln!("{NAME}: {}", printable(&error.to_string()));
    }
    let mut given = 0_u64;
    for path in &arguments.paths {
        let result = match &later {
            Some(later) => later.remove(&remover, path),
            None => remover.remove(path).map(Some),
        };
        match result.transpose() {
            None => given += 1,
            Some(result) => total.add(result),
        }
    }
    if arguments.later {
        members.insert("later".to_owned(), given.into());
    }
    lines.end(&mut total);
    let stopped = watch.end();
    Summary {
        name: NAME,
        done: "removed",
        total,
        stopped,
        members,
    }
    .print(arguments.json)
}
