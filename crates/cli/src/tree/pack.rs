//! `smallfry pack`.

use super::exclude::Exclude;
use super::expected::{Job, Trees};
use super::lines::Lines;
use super::names::quoted;
use super::summary::{Summary, Total, refuse};
use super::watch::Watch;
use serde_json::Map;
use smallfry::archive::{Format, Packer};
use smallfry::bulk::Strategy;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

const NAME: &str = "smallfry pack";

#[derive(clap::Args)]
#[command(after_help = "\
Directories are packed with all that is in them, sorted by name, links as links. ARCHIVE gets
its name in one step, when it is whole; until then an older one stays. A pipe or device is
written to. Nothing is flushed to the disk.

Exit status: 0 if everything was packed, 1 if not, 130 after Ctrl-C, which leaves no archive.

Examples:
  smallfry pack dist.tar.gz dist
  smallfry pack --reproducible --exclude .git -C project source.zip .
  smallfry pack --format tar.zst - node_modules | ssh host smallfry unpack -")]
pub(crate) struct Arguments {
    /// Take each PATH from DIR
    #[arg(short = 'C', long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Format, if it is not that of ARCHIVE's name
    #[arg(long, value_name = "FORMAT", value_parser = ["tar", "tar.gz", "tar.zst", "zip"])]
    format: Option<String>,

    /// Level of compression of a tar.gz or zip, from 1 (fast) to 9 (small) [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    level: Option<u32>,

    /// Leave out entries whose name or path in the archive matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Make the same archive of the same names and contents, with no times or owners
    #[arg(long)]
    reproducible: bool,

    /// Print the path of each entry
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Read with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// .tar, .tar.gz, .tgz, .tar.zst or .zip; `-` is standard output
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// File or directory to pack under this path; `.` is all that is in the directory
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Arguments { archive, .. } = arguments;
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return refuse(NAME, &error),
    };
    let stated = arguments.format.as_ref();
    let stated = stated.map(|format| PathBuf::from(format!("archive.{format}")));
    let Some(format) = Format::of_name(stated.as_ref().unwrap_or(archive)) else {
        return refuse(NAME, &no_format(archive, &arguments.paths));
    };
    let is_output = archive == Path::new("-");
    if is_output && (arguments.json || arguments.verbose) {
        let reason = "--json or -v, and an archive, cannot both go to standard output";
        return refuse(NAME, reason);
    }
    if is_output && std::io::stdout().is_terminal() {
        return refuse(NAME, "an archive is not printed on a terminal");
    }
    let mut sources = Vec::new();
    for path in &arguments.paths {
        let Some(name) = name_in_archive(path) else {
            let reason = format!(
                "{}: `..` can be no name in an archive; use -C",
                path.display()
            );
            return refuse(NAME, &reason);
        };
        let directory = arguments.directory.as_deref().unwrap_or(Path::new(""));
        sources.push((directory.join(path), name));
    }
    if let Some(name) = packed_twice(&sources) {
        let reason = format!("{} would be in the archive twice", name.display());
        return refuse(NAME, &reason);
    }
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    let watch = if is_output || archive.metadata().is_ok_and(is_other) {
        Watch::begin_stream("packed")
    } else {
        Watch::begin("packed")
    };
    watch.count(Trees {
        paths: sources.iter().map(|(path, _)| path.clone()).collect(),
        exclude: exclude.clone(),
        job: Job::Bytes,
    });
    let mut packer = Packer::new();
    packer
        .control(watch.control())
        .reproducible(arguments.reproducible);
    if let Some(level) = arguments.level {
        packer.level(level);
    }
    if let Some(exclude) = exclude {
        packer.filter(move |path| !exclude.has(path));
    }
    if let Some(threads) = arguments.threads {
        packer.strategy(Strategy::Threads(threads));
    }
    let lines = Lines::new(&watch);
    if arguments.verbose {
        let lines = lines.clone();
        packer.on_entry(move |path| lines.put(&quoted(path)));
    }
    let mut total = Total::default();
    if is_output {
        let result = packer.pack_to(format, std::io::stdout().lock(), sources);
        total.add_stream("standard output", result);
    } else {
        total.add(packer.pack(format, archive, sources));
    }
    lines.end(&mut total);
    let stopped = watch.end();
    Summary {
        name: NAME,
        // No archive is left when it is stopped.
        done: "read",
        total,
        stopped,
        members: Map::new(),
    }
    .print(arguments.json)
}

/// Returns the name of a source that is another source too, or is in one. An empty name stands for
/// the contents of a directory.
fn packed_twice(sources: &[(PathBuf, PathBuf)]) -> Option<&Path> {
    let mut names: Vec<&Path> = sources.iter().map(|(_, name)| name.as_path()).collect();
    names.sort_unstable();
    let is_twice =
        |pair: &&[&Path]| !pair[0].as_os_str().is_empty() && pair[1].starts_with(pair[0]);
    names.windows(2).find(is_twice).map(|pair| pair[1])
}

/// Returns the reason why an archive whose name tells no format is refused. A last path that does
/// tell one is taken for the archive at the wrong end.
fn no_format(archive: &Path, paths: &[PathBuf]) -> String {
    let name = archive.display();
    match paths.split_last() {
        Some((last, others)) if Format::of_name(last).is_some() => {
            let mut line = format!("{NAME} {} {name}", last.display());
            for path in others {
                _ = write!(line, " {}", path.display());
            }
            format!(
                "the archive comes first, and the name {name} tells no format; did you mean `{line}`?"
            )
        }
        _ => format!("the name {name} tells no format; give one with --format"),
    }
}

/// Returns the name of a path in the archive: without a root, and empty for the directory itself.
/// `None` for one with `..`.
fn name_in_archive(path: &Path) -> Option<PathBuf> {
    let mut name = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => name.push(part),
            Component::ParentDir => return None,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(name)
}
