//! `smallfry unpack`.

use super::exclude::Exclude;
use super::lines::Lines;
use super::names::quoted;
use super::summary::{Summary, Total};
use super::watch::Watch;
use serde_json::Map;
use smallfry::archive::Unpacker;
use smallfry::bulk::Strategy;
use smallfry::tree::Existing;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const NAME: &str = "smallfry unpack";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
All entries stay in DIR. Absolute names, names with `..`, links that lead out of DIR, devices and
a second file of one name are errors, and the rest is unpacked. An existing file is replaced in
one step. A zip from a pipe is first written to a file without a name in DIR. Nothing is flushed
to the disk.

Exit status: 0 if everything was unpacked, 1 if not, 130 after Ctrl-C, which leaves no half file.
A second Ctrl-C ends it at once, and may leave one.

Examples:
  smallfry unpack node-v24.tar.gz
  smallfry unpack -C vendor --strip-components 1 library-1.2.tgz
  curl -s https://example.org/site.zip | smallfry unpack -C www -")]
pub(crate) struct Arguments {
    /// Unpack into DIR, which is made if it is missing
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Drop the first N names of each path, and entries that have no more
    #[arg(long, value_name = "N", default_value_t = 0)]
    strip_components: usize,

    /// Leave out entries whose name or path below DIR matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Leave existing files as they are, also half ones of a killed run
    #[arg(short, long)]
    keep_old_files: bool,

    /// Let files have the time of unpacking
    #[arg(short = 'm', long)]
    touch: bool,

    /// Set permissions as they are in the archive, do not subtract the umask
    #[arg(short = 'p', long)]
    preserve_permissions: bool,

    /// Make links that lead out of DIR, too; entries never go through them
    #[arg(long)]
    any_links: bool,

    /// Let the last of several files of one name win
    #[arg(long)]
    last_wins: bool,

    /// Stop if the files have more than BYTES together
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,

    /// Stop if there are more than N entries
    #[arg(long, value_name = "N")]
    max_entries: Option<u64>,

    /// Stop if the archive becomes more than N times as large
    #[arg(long, value_name = "N")]
    max_ratio: Option<u64>,

    /// Print the path of each file and link
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,

    /// Work with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// tar, tar.gz, tar.zst or zip, recognized by its contents; `-` is standard input
    #[arg(required = true, value_name = "ARCHIVE")]
    archives: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return super::summary::refuse(NAME, &error),
    };
    let watch = Watch::begin("unpacked");
    let mut unpacker = Unpacker::new();
    unpacker
        .control(watch.control())
        .strip_components(arguments.strip_components)
        .times(!arguments.touch)
        .permissions(arguments.preserve_permissions)
        .links_may_leave(arguments.any_links)
        .last_wins(arguments.last_wins);
    if arguments.keep_old_files {
        unpacker.existing(Existing::Keep);
    }
    if let Some(bytes) = arguments.max_bytes {
        unpacker.max_bytes(bytes);
    }
    if let Some(entries) = arguments.max_entries {
        unpacker.max_entries(entries);
    }
    if let Some(ratio) = arguments.max_ratio {
        unpacker.max_ratio(ratio);
    }
    if let Some(exclude) = exclude {
        unpacker.filter(move |path| !path.ancestors().any(|path| exclude.has(path)));
    }
    let lines = Lines::new(&watch);
    if arguments.verbose {
        let lines = lines.clone();
        unpacker.on_entry(move |path| lines.put(&quoted(path)));
    }
    if let Some(threads) = arguments.threads {
        unpacker.strategy(Strategy::Threads(threads));
    }
    let mut total = Total::default();
    for archive in &arguments.archives {
        if archive == Path::new("-") {
            let result = unpacker.unpack_from(std::io::stdin().lock(), &arguments.directory);
            total.add_stream("standard input", result);
        } else {
            total.add(unpacker.unpack(archive, &arguments.directory));
        }
    }
    lines.end(&mut total);
    let stopped = watch.end();
    let rest = (!arguments.json && stopped.is_none()).then(|| total.rest("unpacked"));
    let code = Summary {
        name: NAME,
        done: "unpacked",
        total,
        stopped,
        members: Map::new(),
    }
    .print(arguments.json);
    if let Some(rest) = rest.flatten() {
        eprintln!("{NAME}: {rest}");
    }
    code
}
