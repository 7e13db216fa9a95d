//! `smallfry hash`.
//!
//! - `lines.rs`: lines of digests and names, as coreutils write and read them
//! - `check.rs`: `--check`
//! - `output.rs`: standard output

mod check;
mod lines;
mod output;

use super::exclude::Exclude;
use super::expected::{Job, Trees};
use super::names::in_json;
use super::summary::{Summary, Total, refuse};
use super::watch::Watch;
use clap::ValueEnum;
use output::Output;
use serde_json::{Map, Value};
use smallfry::bulk::Strategy;
use smallfry::hash::{Algorithm, Cache, Digest, Hasher};
use smallfry::{Error, Operation};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const NAME: &str = "smallfry hash";

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
A file gives the line of sha256sum and b3sum: its digest, two spaces, its name. A directory gives
one line. Its digest stands for all names, contents and links in it, and for which files are
executable; docs/tree-digest.md defines it. PATH `-` is standard input.

With --cache, a file is read again if its length, inode, time of modification or time of change
differs, or if it was changed less than two seconds before. Keep FILE out of hashed directories.

Exit status: 0 if everything was hashed and matches, 1 if not, 130 after Ctrl-C.

Examples:
  smallfry hash dist                              # one line for all that is in it
  smallfry hash --algorithm sha256 *.tar > SUMS   # also for sha256sum -c SUMS
  smallfry hash --algorithm sha256 --check SUMS
  smallfry hash --cache ~/.cache/dist.digests dist
  smallfry hash --exclude .git --exclude '*.log' .")]
pub(crate) struct Arguments {
    /// Function of the digests; `git` gives git's names of blobs
    #[arg(short, long, value_enum, default_value_t = Function::Blake3, value_name = "NAME")]
    algorithm: Function,

    /// Read digests and names from each PATH, and check them
    #[arg(short, long)]
    check: bool,

    /// Print no line for a file that matches
    #[arg(short, long, requires = "check")]
    quiet: bool,

    /// Take files and links for trees, too: do not follow links, and count if a file is executable
    #[arg(short, long)]
    tree: bool,

    /// Read only files that have changed since the last run with this FILE, which keeps digests
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    cache: Option<PathBuf>,

    /// Leave out entries of directories whose name or path below PATH matches
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Work with N threads, not with as many as measuring shows to pay
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print one JSON object; a path that is not UTF-8 has its bytes in `path_bytes`, too
    #[arg(long)]
    json: bool,

    /// File or directory to hash
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Function {
    Blake3,
    Sha256,
    Sha1,
    Git,
}

impl From<Function> for Algorithm {
    fn from(function: Function) -> Self {
        match function {
            Function::Blake3 => Self::Blake3,
            Function::Sha256 => Self::Sha256,
            Function::Sha1 => Self::Sha1,
            Function::Git => Self::GitBlob,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let exclude = match Exclude::new(&arguments.exclude) {
        Ok(exclude) => exclude,
        Err(error) => return refuse(NAME, &error),
    };
    let mut hasher = Hasher::new();
    hasher.algorithm(arguments.algorithm.into());
    if let Some(exclude) = exclude.clone() {
        hasher.filter(move |path| !exclude.has(path));
    }
    if let Some(threads) = arguments.threads {
        hasher.strategy(Strategy::Threads(threads));
    }
    let cache = match arguments.cache.as_ref().map(Cache::open).transpose() {
        Ok(cache) => cache,
        Err(error) => return refuse(NAME, &error.to_string()),
    };
    if let Some(cache) = &cache {
        if cache.was_damaged() {
            let path = cache.path().display();
            eprintln!("{NAME}: warning: {path}: the cache is damaged and is made anew");
        }
        hasher.cache(cache);
    }
    let watch = Watch::begin_stream("hashed");
    if !arguments.check {
        watch.count(Trees {
            paths: arguments.paths.clone(),
            exclude: exclude.clone(),
            job: if arguments.cache.is_some() {
                Job::Entries
            } else {
                Job::Bytes
            },
        });
    }
    hasher.control(watch.control());
    let mut run = Run {
        arguments,
        hasher,
        output: Output::new(&watch),
        total: Total::default(),
        members: Map::new(),
    };
    let done = if arguments.check {
        run.check()
    } else {
        run.print()
    };
    let written = done.and_then(|()| run.output.flush());
    let Run {
        mut total, members, ..
    } = run;
    total.set_bytes(watch.control().progress().bytes);
    if let Some(Err(error)) = cache.map(|cache| cache.save()) {
        total.fail(error.to_string());
    }
    let stopped = watch.end();
    match written {
        // The reader of the pipe has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::FAILURE,
        Err(error) => total.fail(format!("write to standard output: {error}")),
        Ok(()) => {}
    }
    Summary {
        name: NAME,
        done: "hashed",
        total,
        stopped,
        members,
    }
    .print(arguments.json)
}

/// The run of the command.
struct Run<'r> {
    arguments: &'r Arguments,
    hasher: Hasher,
    output: Output<'r>,
    total: Total,
    /// The members of the JSON object that only this command has.
    members: Map<String, Value>,
}

/// The digest of a path.
struct Hashed {
    digest: Digest,
    is_tree: bool,
}

impl Run<'_> {
    /// Prints the digest of each path.
    fn print(&mut self) -> io::Result<()> {
        let arguments = self.arguments;
        let mut digests = Vec::new();
        let result = self.each(&arguments.paths, |run, path, hashed| {
            let Some(Hashed { digest, is_tree }) = hashed else {
                return Ok(());
            };
            if !arguments.json {
                return run.output.put(&lines::line(&digest, path));
            }
            let mut object = in_json(path);
            object["kind"] = if is_tree { "tree" } else { "file" }.into();
            object["digest"] = digest.to_string().into();
            digests.push(object);
            Ok(())
        });
        self.describe(digests);
        result
    }

    /// Sets what JSON says of this command.
    fn describe(&mut self, digests: Vec<Value>) {
        let algorithm = self.arguments.algorithm.to_possible_value();
        let algorithm = algorithm.map(|it| it.get_name().to_owned());
        self.members
            .insert("schema".into(), "smallfry-hash/1".into());
        self.members.insert("algorithm".into(), algorithm.into());
        self.members.insert("digests".into(), digests.into());
    }

    /// Hashes the paths, and calls `each` with the results in order; `None` after an error, which
    /// is noted.
    fn each<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
        mut each: impl FnMut(&mut Self, &Path, Option<Hashed>) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.arguments.tree {
            for path in paths.iter().map(AsRef::as_ref) {
                let hashed = self.hash_tree(path);
                each(self, path, hashed)?;
            }
            return Ok(());
        }
        let files = self
            .hasher
            .files(paths.iter().map(|path| opened(path.as_ref())));
        for (path, result) in paths.iter().zip(files) {
            let path = path.as_ref();
            let hashed = match result {
                Ok(digest) => {
                    self.total.add_file();
                    Some(Hashed {
                        digest,
                        is_tree: false,
                    })
                }
                // With a slash at its end, so that a link to a directory is followed.
                Err(error) if is_directory(&error) => self.hash_tree(&path.join("")),
                Err(error) => {
                    if !error.is_cancelled() {
                        self.total.fail(error.to_string());
                    }
                    None
                }
            };
            each(self, path, hashed)?;
        }
        Ok(())
    }

    fn hash_tree(&mut self, path: &Path) -> Option<Hashed> {
        let hashed = self.hasher.tree(path);
        let digest = hashed.as_ref().ok().map(|it| it.digest);
        self.total.add(hashed.map(|it| it.report));
        digest.map(|digest| Hashed {
            digest,
            is_tree: true,
        })
    }
}

/// Returns the path that is opened for a path of the command line.
fn opened(path: &Path) -> &Path {
    if path.as_os_str() == "-" {
        Path::new("/dev/stdin")
    } else {
        path
    }
}

fn is_directory(error: &Error) -> bool {
    error.operation() == Operation::Read && error.kind() == io::ErrorKind::IsADirectory
}
