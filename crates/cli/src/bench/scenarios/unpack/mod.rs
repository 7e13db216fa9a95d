//! `unpack`: an archive of a tree unpacked into an empty directory, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes: loading
//! smallfry's core counts, and loading peers does not. Rows in the JVM are compiled first. What was
//! unpacked is compared with the tree, and removed, which is not timed. Raw system calls unpack a
//! tar; the other formats wait for compression.

mod native;
mod raw;

use super::prelude::*;
use super::shared::archives::{Case, Format, IN_JVM, IN_RUST, NPM_TAR, ON_NODE};
use super::shared::rows::{self, RAW, RowOf};
use super::shared::tree_jobs::{self, Command, Samples};

const OWN: &str = "smallfry unpack";
const UNZIP: &str = "unzip";

const OF_TAR: [Command; 2] = [("GNU tar", "tar", &["-xf"]), ("bsdtar", "bsdtar", &["-xf"])];
const OF_ZIP: [Command; 2] = [(UNZIP, UNZIP, &["-q"]), ("bsdtar", "bsdtar", &["-xf"])];

const TAR_ON_NODE: [RowOf; 2] = [NPM_TAR, ON_NODE];
const ZIP_ON_NODE: [RowOf; 3] = [
    ("extract-zip", Functions::ExtractZip, Style::Parallel),
    ("yauzl", Functions::Yauzl, Style::Parallel),
    ON_NODE,
];
const ZIP_IN_JVM: [RowOf; 2] = [
    ("Java ZipInputStream", Functions::JavaFiles, Style::Sync),
    IN_JVM,
];

const fn in_processes(case: &Case) -> [&'static [RowOf]; 3] {
    match case.format {
        Format::Zip => [&ZIP_ON_NODE, &ZIP_IN_JVM, &IN_RUST],
        _ => [&TAR_ON_NODE, &[IN_JVM], &IN_RUST],
    }
}

const fn commands(case: &Case) -> &'static [Command] {
    match case.format {
        Format::Zip => &OF_ZIP,
        _ => &OF_TAR,
    }
}

#[derive(Serialize, Deserialize)]
struct Request {
    threads: Threads,
    archive: String,
    format: Format,
    to: String,
    /// The names of symbolic links, which `ZipInputStream` takes for files.
    links: Vec<String>,
}

pub(crate) struct Unpack {
    samples: Samples,
    /// The archive of each case.
    archives: Vec<Packed>,
}

struct Packed {
    archive: PathBuf,
    /// The sample that it is of.
    tree: usize,
    links: Vec<String>,
}

impl Scenario for Unpack {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        ..tree_jobs::facts(
            "unpack",
            "An archive unpacked: tar, bsdtar, unzip, npm's packages, the JDK and smallfry",
            Question::of(
                "which way unpacks an archive?",
                &[
                    ("the command", "smallfry unpack ARCHIVE -C DIR"),
                    ("Node", "unpack of the package smallfry"),
                    ("Rust", "smallfry::archive::Unpacker"),
                ],
            ),
            include_str!("driver.js"),
        )
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> = Some(tree_jobs::report(
        "an archive unpacked into an empty directory",
    ));

    fn cases(session: &Session) -> Vec<Case> {
        Case::all(session)
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let mut rows = tree_jobs::rows(session, commands(case), OWN, in_processes(case));
        // Compression is not a matter of system calls.
        if case.format == Format::Tar {
            rows.extend(rows::raw(session, RAW));
        }
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let (samples, trees) = Samples::of(session, Self::FACTS.name, cases)?;
        let mut archives = Vec::new();
        for (case, tree) in cases.iter().zip(trees) {
            session.interrupt.check()?;
            session.progress.show(0.0, &format!("packing {case}"));
            let of = samples.tree(tree);
            archives.push(Packed {
                archive: case.format.pack(of)?,
                tree,
                links: trees::links(of).map_err(Failure::at("read directory", of))?,
            });
        }
        Ok(Self { samples, archives })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Self { samples, archives } = self;
        let Packed {
            archive,
            tree,
            links,
        } = &archives[turn.place.0];
        let to = samples.new_path(turn.count);
        make_directory(&to)?;
        let done = if turn.row.runtime.kind == Kind::Command {
            let into = if turn.row.implementation.starts_with(UNZIP) {
                "-d"
            } else {
                "-C"
            };
            let commands = commands(turn.case);
            let paths = [archive, Path::new(into), &to];
            tree_jobs::run_command(turn, commands, &["unpack"], &paths)
        } else {
            turn.ask(&Request {
                threads: turn.row.way.threads,
                archive: unicode(archive)?,
                format: turn.case.format,
                to: unicode(&to)?,
                links: links.clone(),
            })
        };
        let checked = done.and_then(|times| {
            samples.check(*tree, &to, turn.is_careful())?;
            Ok(times)
        });
        if checked.is_err() {
            tree_jobs::remove(&to)?;
        }
        checked
    }
}
