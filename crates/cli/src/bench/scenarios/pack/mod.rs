//! `pack`: a tree packed into an archive, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes: loading
//! smallfry's core counts, and loading peers does not. Rows in the JVM are compiled first. Each
//! archive is unpacked, compared with the tree, and removed, which is not timed. Raw system calls
//! pack a tar; the other formats wait for compression.

mod native;
mod raw;

use super::prelude::*;
use super::shared::archives::{Case, Format, IN_JVM, IN_RUST, NPM_TAR, ON_NODE};
use super::shared::rows::{self, RAW, RowOf};
use super::shared::tree_jobs::{self, Command, Samples};
use smallfry::archive::Unpacker;

const OWN: &str = "smallfry pack";

const OF_TAR: [Command; 2] = [("GNU tar", "tar", &["-cf"]), ("bsdtar", "bsdtar", &["-cf"])];
const OF_GZIP: [Command; 2] = [
    ("GNU tar", "tar", &["-czf"]),
    ("bsdtar", "bsdtar", &["-czf"]),
];
const OF_ZIP: [Command; 1] = [("bsdtar", "bsdtar", &["--format", "zip", "-cf"])];

const ZIP_IN_JVM: [RowOf; 2] = [
    ("Java ZipOutputStream", Functions::JavaFiles, Style::Sync),
    IN_JVM,
];

const fn in_processes(case: &Case) -> [&'static [RowOf]; 3] {
    match case.format {
        Format::Zip => [&[ON_NODE], &ZIP_IN_JVM, &IN_RUST],
        _ => [&[NPM_TAR, ON_NODE], &[IN_JVM], &IN_RUST],
    }
}

const fn commands(case: &Case) -> &'static [Command] {
    match case.format {
        Format::Tar => &OF_TAR,
        Format::Gzip => &OF_GZIP,
        Format::Zip => &OF_ZIP,
    }
}

#[derive(Serialize, Deserialize)]
struct Request {
    threads: Threads,
    tree: String,
    format: Format,
    archive: String,
}

pub(crate) struct Pack {
    samples: Samples,
    /// The samples that cases are of.
    trees: Vec<usize>,
}

impl Scenario for Pack {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        ..tree_jobs::facts(
            "pack",
            "A tree packed: tar, bsdtar, npm's tar, the JDK and smallfry",
            Question::of(
                "which way packs a tree?",
                &[
                    ("the command", "smallfry pack ARCHIVE TREE"),
                    ("Node", "pack of the package smallfry"),
                    ("Rust", "smallfry::archive::Packer"),
                ],
            ),
            include_str!("driver.js"),
        )
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> = Some(tree_jobs::report("a tree packed into an archive"));

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
        Ok(Self { samples, trees })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Self { samples, trees } = self;
        let tree = trees[turn.place.0];
        let to = samples.new_path(turn.count);
        let archive = to.with_extension(turn.case.format.to_string());
        let done = if turn.row.runtime.kind == Kind::Command {
            let commands = commands(turn.case);
            let paths = [
                &archive,
                Path::new("-C"),
                samples.tree(tree),
                Path::new("."),
            ];
            tree_jobs::run_command(turn, commands, &["pack"], &paths)
        } else {
            turn.ask(&Request {
                threads: turn.row.way.threads,
                tree: unicode(samples.tree(tree))?,
                format: turn.case.format,
                archive: unicode(&archive)?,
            })
        };
        let checked = done.and_then(|times| {
            let unpacked = Unpacker::new().links_may_leave(true).unpack(&archive, &to);
            unpacked.map_err(|error| format!("cannot unpack the archive: {error}"))?;
            samples.check(tree, &to, turn.is_careful())?;
            Ok(times)
        });
        if checked.is_err() {
            tree_jobs::remove(&to)?;
        }
        tree_jobs::remove(&archive)?;
        checked
    }
}
