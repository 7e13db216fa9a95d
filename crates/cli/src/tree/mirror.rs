//! `smallfry mirror`.

use super::exclude::Exclude;
use super::expected::{Job, Trees};
use super::lines::Lines;
use super::names::{in_json, quoted};
use super::summary::{Summary, Total};
use super::watch::Watch;
use serde_json::Map;
use smallfry::bulk::Strategy;
use smallfry::tree::Mirror;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

const NAME: &str = "smallfry mirror";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
TO gets each entry of FROM with its permissions and times, links as links. A file with the same size
and time of modification stays as it is. A changed one is replaced in one step, so another run ends
one that was interrupted. A directory in the place of a file is replaced only with --delete.
Nothing is flushed to the disk: after a power failure, run it with -c.

-v and -n print a line for each change: `create`, `update`, `set attributes` or `delete`, and the
path. With --json, -n gives them as `changes`.

Exit status: 0 if TO is the same, 1 if not, 130 after Ctrl-C, which leaves no half file.
A second Ctrl-C ends it at once, and may leave one.

Examples:
  smallfry mirror --delete photos /mnt/backup/photos
  smallfry mirror -n --delete --exclude .cache site www    # what would change?")]
pub(crate) struct Arguments {
    /// Accepted: directories are always mirrored
    #[arg(short = 'r', long)]
    recursive: bool,

    /// Accepted: links, permissions and times are always kept; owners never
    #[arg(short, long)]
    archive: bool,

    /// Accepted, as `rsync` has it: links are always kept
    #[arg(short, long, hide = true)]
    links: bool,

    /// Accepted, as `rsync` has it: times are always kept
    #[arg(short, long, hide = true)]
    times: bool,

    /// Accepted, as `rsync` has it: permissions are always kept
    #[arg(short, long, hide = true)]
    perms: bool,

    /// Accepted, as `rsync` has it: hard links are always kept
    #[arg(short = 'H', long, hide = true)]
    hard_links: bool,

    /// Delete entries of TO that are not in FROM, but none that are excluded
    #[arg(long)]
    delete: bool,

    /// Print what would change, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Compare files of the same size by contents, not by time
    #[arg(short = 'c', long)]
    checksum: bool,

    /// Print each change, in the order in which they are done
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Stay on the file system of FROM
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Leave out entries whose name or path below FROM matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Work with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object; a path that is not UTF-8 has its bytes in `path_bytes`, too
    #[arg(long)]
    json: bool,

    /// Directory to mirror
    from: PathBuf,

    /// Directory that becomes the same; it is made if it is missing
    to: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return super::summary::refuse(NAME, &error),
    };
    let watch = Watch::begin("mirrored");
    watch.count(Trees {
        paths: vec![arguments.from.clone()],
        exclude: exclude.clone(),
        job: Job::Entries,
    });
    let mut mirror = Mirror::new();
    mirror
        .control(watch.control())
        .delete(arguments.delete)
        .dry_run(arguments.dry_run)
        .contents(arguments.checksum)
        .mounts(!arguments.one_file_system);
    if let Some(exclude) = exclude {
        mirror.filter(move |path| !exclude.has(path));
    }
    if let Some(threads) = arguments.threads {
        mirror.strategy(Strategy::Threads(threads));
    }
    let lines = Lines::new(&watch);
    let changes = Arc::new(Mutex::new(Vec::new()));
    if arguments.json {
        if arguments.dry_run {
            let changes = Arc::clone(&changes);
            mirror.on_change(move |change, path| {
                let mut object = in_json(path);
                object["change"] = change.name().into();
                let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
                changes.push(object);
            });
        }
    } else if arguments.verbose || arguments.dry_run {
        let lines = lines.clone();
        mirror.on_change(move |change, path| {
            let is_root = path.as_os_str().is_empty();
            let path = if is_root { Path::new(".") } else { path };
            lines.put(&format!("{} {}", change.name(), quoted(path)));
        });
    }
    let mut total = Total::default();
    total.add(mirror.run(&arguments.from, &arguments.to));
    lines.end(&mut total);
    let stopped = watch.end();
    let mut members = Map::new();
    members.insert("unchanged".into(), total.unchanged().into());
    members.insert("deleted".into(), total.deleted().into());
    if arguments.dry_run {
        let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
        members.insert("changes".into(), std::mem::take(&mut *changes).into());
    }
    Summary {
        name: NAME,
        done: "changed",
        total,
        stopped,
        members,
    }
    .print(arguments.json)
}
