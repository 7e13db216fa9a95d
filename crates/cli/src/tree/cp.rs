//! `smallfry cp`.

use super::exclude::Exclude;
use super::lines::{Lines, quoted};
use super::summary::{Summary, Total};
use super::watch::Watch;
use serde_json::Map;
use smallfry::bulk::Strategy;
use smallfry::tree::{Copier, Existing};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, is_separator};
use std::process::ExitCode;

const NAME: &str = "smallfry cp";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Directories are copied with all that is in them, links as links. Permissions and hard links are
kept. An existing file is replaced in one step. A copy shares its blocks with its source where the
file system can do that. Nothing is flushed to the disk.

Exit status: 0 if everything was copied, 1 if not, 130 after Ctrl-C, which leaves no half file.

Examples:
  smallfry cp node_modules ../backup
  smallfry cp --exclude '*.map' --exclude .cache dist www
  smallfry cp -n assets/* public/")]
pub(crate) struct Arguments {
    /// Accepted: directories are always copied
    #[arg(short = 'r', short_alias = 'R', long)]
    recursive: bool,

    /// Accepted: existing files are always replaced
    #[arg(short, long, conflicts_with = "no_clobber")]
    force: bool,

    /// Leave existing files as they are
    #[arg(short, long)]
    no_clobber: bool,

    /// Print the source and the copy of each entry, in the order in which they are done
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Keep the times of files and directories
    #[arg(short = 'p', long)]
    times: bool,

    /// Stay on the file system of each SOURCE
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Leave out entries whose name or path below SOURCE matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Copy the blocks, do not share them
    #[arg(long)]
    no_clone: bool,

    /// Take DEST for the name of the copy even if it is a directory
    #[arg(short = 'T', long)]
    no_target_directory: bool,

    /// Work with so many threads; the default is as many as pay, which is measured meanwhile
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// File or directory to copy
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Directory to copy into, or the name of the copy if there is no such directory
    #[arg(value_name = "DEST")]
    destination: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return super::summary::refuse(NAME, &error),
    };
    let into_directory = !arguments.no_target_directory && arguments.destination.is_dir();
    if arguments.sources.len() > 1 && !into_directory {
        let destination = arguments.destination.display();
        let reason = format!("several sources need a directory, and {destination} is none");
        return super::summary::refuse(NAME, &reason);
    }
    let watch = Watch::begin("copied");
    let mut copier = Copier::new();
    copier
        .control(watch.control())
        .times(arguments.times)
        .mounts(!arguments.one_file_system)
        .clone_blocks(!arguments.no_clone);
    if arguments.no_clobber {
        copier.existing(Existing::Keep);
    }
    if let Some(exclude) = exclude {
        copier.filter(move |path| !exclude.has(path));
    }
    if let Some(threads) = arguments.threads {
        copier.strategy(Strategy::Threads(threads));
    }
    let lines = Lines::new(&watch);
    if arguments.verbose {
        let lines = lines.clone();
        copier.on_entry(move |from, to| {
            lines.put(&format!("{} -> {}", quoted(from), quoted(to)));
        });
    }
    let mut total = Total::default();
    for source in &arguments.sources {
        match target(source, &arguments.destination, into_directory) {
            Ok(target) => total.add(copier.copy(source, target)),
            Err(reason) => total.fail(reason),
        }
    }
    lines.flush();
    let stopped = watch.end();
    Summary {
        name: NAME,
        done: "copied",
        total,
        stopped,
        members: Map::new(),
    }
    .print(arguments.json)
}

/// Returns the path of the copy.
fn target(source: &Path, destination: &Path, into_directory: bool) -> Result<PathBuf, String> {
    if !into_directory {
        return Ok(destination.to_owned());
    }
    // The contents of `.` and `a/..` are copied, since they have no name of their own.
    if ends_in_dot(source) || source.file_name().is_none() {
        return Ok(destination.to_owned());
    }
    match source.file_name() {
        Some(name) => Ok(destination.join(name)),
        None => Err(format!("{} has no name", source.display())),
    }
}

/// Returns true for `.`, and for a path that ends in `/.`.
fn ends_in_dot(path: &Path) -> bool {
    match path.as_os_str().as_encoded_bytes() {
        [b'.'] => true,
        [.., separator, b'.'] => is_separator(char::from(*separator)),
        _ => false,
    }
}
