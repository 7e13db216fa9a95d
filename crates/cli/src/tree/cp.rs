//! `smallfry cp`.

use super::exclude::Exclude;
use super::expected::{Job, Trees};
use super::lines::Lines;
use super::names::quoted;
use super::summary::{Summary, Total};
use super::watch::Watch;
use clap::ValueEnum;
use serde_json::Map;
use smallfry::Durability;
use smallfry::bulk::Strategy;
use smallfry::tree::{Copier, Existing, Links, Method};
use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, is_separator};
use std::process::ExitCode;

const NAME: &str = "smallfry cp";

/// The list of `--preserve` without one.
const USUAL: &[Preserved] = if cfg!(windows) {
    &[Preserved::Timestamps]
} else {
    &[Preserved::Mode, Preserved::Ownership, Preserved::Timestamps]
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(override_usage = "smallfry cp [OPTIONS] SOURCE... DEST
       smallfry cp [OPTIONS] -t DIR SOURCE...")]
#[command(after_help = "\
Directories are copied with all that is in them, links as links. Permissions and hard links are
always kept. An existing file is replaced in one step, and an existing link by the copy. A copy
shares its blocks with its source where the file system can do that. Without --fsync nothing is
flushed to the disk.

Exit status: 0 if everything was copied, 1 if not, 130 after Ctrl-C, which leaves no half file.
A second Ctrl-C ends it at once, and may leave one.

Examples:
  smallfry cp node_modules ../backup
  smallfry cp -a /srv/www /mnt/backup
  smallfry cp --exclude '*.map' --exclude .cache dist www
  find . -name '*.png' -print0 | xargs -0 smallfry cp -t public")]
pub(crate) struct Arguments {
    /// Accepted: directories are always copied
    #[arg(short = 'r', short_alias = 'R', long)]
    recursive: bool,

    /// Accepted: existing files are always replaced
    #[arg(short, long, conflicts_with = "no_clobber")]
    force: bool,

    /// Leave existing files as they are, also half ones of a killed run
    #[arg(short, long)]
    no_clobber: bool,

    /// Print the source and the copy of each entry
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Keep all: the same as --preserve=all
    #[arg(short, long)]
    archive: bool,

    /// The same as --preserve without a LIST
    #[arg(short = 'p')]
    preserve_usual: bool,

    /// Keep mode (access control lists, too), ownership, timestamps, xattr, all; without a LIST the
    /// first three
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        hide_possible_values = true,
        num_args = 0..,
        require_equals = true,
        value_delimiter = ','
    )]
    preserve: Option<Vec<Preserved>>,

    /// Copy what links lead to, not the links
    #[arg(short = 'L', long, overrides_with = "no_dereference")]
    dereference: bool,

    /// Copy links as links, which is the default
    #[arg(short = 'P', short_alias = 'd', long)]
    no_dereference: bool,

    /// Make hard links to files and links instead of copies
    #[arg(short, long)]
    link: bool,

    /// Stay on the file system of each SOURCE
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Leave out entries whose name or path below SOURCE matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Share blocks with SOURCE: auto (the default), always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        hide_possible_values = true,
        num_args = 0..=1,
        require_equals = true,
        default_value = "auto",
        hide_default_value = true,
        default_missing_value = "always",
        conflicts_with = "link"
    )]
    reflink: Reflink,

    /// Leave files that have the size and time of SOURCE; use it with -p
    #[arg(long)]
    if_changed: bool,

    /// Leave out pipes, sockets and devices, which are errors otherwise
    #[arg(long)]
    skip_special: bool,

    /// Flush all copies to the disk before it ends
    #[arg(long)]
    fsync: bool,

    /// Copy every SOURCE into DIR
    #[arg(
        short,
        long,
        value_name = "DIR",
        conflicts_with = "no_target_directory"
    )]
    target_directory: Option<PathBuf>,

    /// Take DEST for the name of the copy even if it is a directory
    #[arg(short = 'T', long)]
    no_target_directory: bool,

    /// Work with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Paths to copy, then the directory to copy into, or the name of the copy
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// A part of an entry that is kept.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preserved {
    /// Permissions, which are always kept, and access control lists
    Mode,
    /// Owner and group
    Ownership,
    /// Times of access and modification
    Timestamps,
    /// Hard links, which are always kept
    Links,
    /// Extended attributes
    Xattr,
    /// All that this system has
    All,
}

/// The files that share blocks with their sources.
#[derive(Clone, Copy, ValueEnum)]
enum Reflink {
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// Returns the way to make the copies of files.
    fn method(&self) -> Method {
        match self.reflink {
            _ if self.link => Method::HardLink,
            Reflink::Auto => Method::Auto,
            Reflink::Always => Method::Clone,
            Reflink::Never => Method::Copy,
        }
    }

    /// Returns the sources, the destination, and whether that is a directory to copy into.
    fn paths(&self) -> Result<(&[PathBuf], &Path, bool), String> {
        let (sources, destination) = match (&self.target_directory, self.paths.split_last()) {
            (Some(directory), _) => (&*self.paths, directory),
            (None, Some((destination, sources))) if !sources.is_empty() => (sources, destination),
            _ => {
                let only = self.paths.first().map_or(Path::new(""), PathBuf::as_path);
                return Err(format!("a DEST is missing after {}", only.display()));
            }
        };
        let is_directory = destination.is_dir();
        let shown = destination.display();
        if self.target_directory.is_some() && !is_directory {
            return Err(format!("{shown} is no directory"));
        }
        let into_directory = is_directory && !self.no_target_directory;
        if sources.len() > 1 && !into_directory {
            return Err(format!(
                "several sources need a directory, and {shown} is none"
            ));
        }
        Ok((sources, destination, into_directory))
    }

    /// Sets what is kept.
    fn preserve(&self, copier: &mut Copier) {
        let mut kept = self.preserve.clone().unwrap_or_default();
        if self.archive {
            kept.push(Preserved::All);
        }
        if self.preserve_usual || self.preserve.as_ref().is_some_and(Vec::is_empty) {
            kept.extend(USUAL);
        }
        for part in kept {
            match part {
                Preserved::Mode => copier.access_lists(true),
                Preserved::Ownership => copier.owner(true),
                Preserved::Timestamps => copier.times(true),
                Preserved::Links => copier.hard_links(true),
                Preserved::Xattr => copier.attributes(true),
                Preserved::All if cfg!(windows) => copier.times(true),
                Preserved::All => copier
                    .times(true)
                    .owner(true)
                    .access_lists(true)
                    .attributes(true),
            };
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return super::summary::refuse(NAME, &error),
    };
    let (sources, destination, into_directory) = match arguments.paths() {
        Ok(paths) => paths,
        Err(reason) => return super::summary::refuse(NAME, &reason),
    };
    let watch = Watch::begin("copied");
    watch.count(Trees {
        paths: sources.to_owned(),
        exclude: exclude.clone(),
        job: if arguments.if_changed || arguments.link {
            Job::Entries
        } else {
            Job::Bytes
        },
    });
    let mut copier = Copier::new();
    copier
        .control(watch.control())
        .mounts(!arguments.one_file_system)
        .method(arguments.method())
        .only_if_changed(arguments.if_changed)
        .skip_special(arguments.skip_special);
    arguments.preserve(&mut copier);
    if arguments.dereference {
        copier.links(Links::Follow);
    }
    if arguments.fsync {
        copier.durability(Durability::Full);
    }
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
    let mut made = HashMap::new();
    for source in sources {
        let target = target(source, destination, into_directory);
        match target.and_then(|target| check(source, target, &mut made)) {
            Ok(target) => total.add(copier.copy(resolved(source), target)),
            Err(reason) => total.fail(reason),
        }
    }
    lines.end(&mut total);
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

/// Refuses a source that is no directory in two cases: `target` names a directory, or it is the copy
/// of another source, as `made` tells. Directories are merged.
fn check<'s>(
    source: &'s Path,
    target: PathBuf,
    made: &mut HashMap<PathBuf, &'s Path>,
) -> Result<PathBuf, String> {
    let is_directory = |path: &Path| {
        let found = resolved(path).symlink_metadata();
        found.is_ok_and(|found| found.is_dir())
    };
    if ends_in_separator(&target) && !is_directory(source) {
        return Err(format!("{} is no directory", target.display()));
    }
    let (from, to) = (source.display(), target.display());
    match made.insert(target.clone(), source) {
        Some(other) if !(is_directory(source) && is_directory(other)) => {
            let other = other.display();
            Err(format!("{from} would replace {to}, the copy of {other}"))
        }
        _ => Ok(target),
    }
}

/// Returns the directory that `link/` means, by a path that does not end in the name of the link.
fn resolved(source: &Path) -> Cow<'_, Path> {
    let link = source.components().as_path();
    if ends_in_separator(source) && link.is_symlink() && source.is_dir() {
        source.join(".").into()
    } else {
        source.into()
    }
}

fn ends_in_separator(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|byte| is_separator(char::from(*byte)))
}

/// Returns true for `.`, and for a path that ends in `/.`.
fn ends_in_dot(path: &Path) -> bool {
    match path.as_os_str().as_encoded_bytes() {
        [b'.'] => true,
        [.., separator, b'.'] => is_separator(char::from(*separator)),
        _ => false,
    }
}
