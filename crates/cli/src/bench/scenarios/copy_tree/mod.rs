//! `copy-tree`: a tree copied to where nothing is, on one file system, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes, which
//! are fresh for each run: loading smallfry's core counts. Rows in the JVM are compiled first. Raw
//! system calls read and write through a buffer. A filter that accepts everything shows what
//! filters cost. Each copy is compared with the tree, and removed, which is not timed.

#[cfg(unix)]
mod raw;

use super::prelude::*;
use super::shared::rows;
use super::shared::tree_jobs::{self, Case, Command, Samples};

const OWN: &str = "smallfry cp";
const RSYNC: &str = "rsync -a";

const COMMANDS: [Command; 4] = [
    ("cp -r", "cp", &["-r"]),
    ("cpz", "cpz", &[]),
    ("fcp", "fcp", &[]),
    (RSYNC, "rsync", &["-a", "--whole-file"]),
];

const ON_NODE: [RowOf; 8] = {
    use Functions::{FsExtra, Node, Smallfry};
    [
        ("Node promises.cp", Node, Style::Parallel),
        ("Node promises.cp, filter", Node, Style::Parallel),
        ("Node cpSync", Node, Style::Sync),
        ("fs-extra copy", FsExtra, Style::Parallel),
        ("smallfry promises.cp", Smallfry, Style::Parallel),
        ("smallfry promises.cp, filter", Smallfry, Style::Parallel),
        ("smallfry cpSync", Smallfry, Style::Sync),
        ("smallfry copyTree", Smallfry, Style::Bulk),
    ]
};

const IN_JVM: [RowOf; 2] = [
    ("Java Files.walkFileTree", Functions::JavaFiles, Style::Sync),
    ("smallfry in the JVM", Functions::Smallfry, Style::BulkSync),
];

const IN_RUST: [RowOf; 2] = [
    ("Rust std, one thread", Functions::Std, Style::Sync),
    ("smallfry in Rust", Functions::Smallfry, Style::BulkSync),
];

#[derive(Serialize, Deserialize)]
struct Request {
    call: String,
    threads: Threads,
    from: String,
    to: String,
}

pub(crate) struct CopyTree(Samples);

impl Scenario for CopyTree {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        ..tree_jobs::facts(
            "copy-tree",
            "A tree copied: cp, newer tools, node:fs, fs-extra, raw calls and smallfry",
            Question::of(
                "which way copies a tree?",
                &[
                    ("the command", "smallfry cp FROM TO"),
                    ("Node", "node --require smallfry/register, for fs.cp"),
                    ("Rust", "smallfry::tree::Copier"),
                    ("JDK", "Smallfry.copyTree"),
                ],
            ),
            include_str!("driver.js"),
        )
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> =
        Some(tree_jobs::report("a tree copied to where nothing is"));

    fn cases(session: &Session) -> Vec<Case> {
        Case::all(session)
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let mut rows = tree_jobs::rows(session, &COMMANDS, OWN, [&ON_NODE, &IN_JVM, &IN_RUST]);
        rows.extend(rows::raw(session, RAW));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        Ok(Self(Samples::make(session, Self::FACTS.name, cases)?))
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Self(samples) = self;
        let (case, _) = turn.place;
        let (from, to) = (samples.tree(case), samples.new_path(turn.count));
        let done = if turn.row.runtime.kind == Kind::Command {
            // To rsync a slash means the contents of the directory.
            let source = match turn.row.implementation.as_str() {
                RSYNC => from.join(""),
                _ => from.to_owned(),
            };
            tree_jobs::run_command(turn, &COMMANDS, &["cp", "-T"], &[&source, &to])
        } else {
            turn.ask(&Request {
                call: turn.row.implementation.clone(),
                threads: turn.row.way.threads,
                from: unicode(from)?,
                to: unicode(&to)?,
            })
        };
        let checked = done.and_then(|times| {
            samples.check(case, &to, turn.is_careful())?;
            Ok(times)
        });
        if checked.is_err() {
            tree_jobs::remove(&to)?;
        }
        checked
    }
}

/// Copies a tree in Rust.
fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let (from, to) = (Path::new(&request.from), Path::new(&request.to));
    let meter = Meter::start();
    match functions {
        #[cfg(unix)]
        Functions::Raw => {
            raw::copy(from, to, request.threads.count()).map_err(failed("copy", from))?;
        }
        _ => tree_jobs::copy_by(functions, from, to)?,
    }
    Ok(Times::of(0, 0, meter.stop()))
}
