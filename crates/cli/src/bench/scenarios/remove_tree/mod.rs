//! `remove-tree`: a tree removed that was just copied and flushed.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes, which
//! are fresh for each run: loading smallfry's core counts. Rows in the JVM are compiled first.

#[cfg(unix)]
mod raw;

use super::prelude::*;
use super::shared::rows;
use super::shared::tree_jobs::{self, Case, Command, Samples};

const OWN: &str = "smallfry rm";

const COMMANDS: [Command; 2] = [("rm -rf", "rm", &["-rf"]), ("rmz", "rmz", &[])];

const ON_NODE: [RowOf; 6] = {
    use Functions::{FsExtra, Node, Smallfry};
    [
        ("Node promises.rm", Node, Style::Parallel),
        ("Node rmSync", Node, Style::Sync),
        ("fs-extra remove", FsExtra, Style::Parallel),
        ("smallfry promises.rm", Smallfry, Style::Parallel),
        ("smallfry rmSync", Smallfry, Style::Sync),
        ("smallfry removeTree", Smallfry, Style::Bulk),
    ]
};

const IN_JVM: [RowOf; 2] = [
    ("Java Files.walkFileTree", Functions::JavaFiles, Style::Sync),
    ("smallfry in the JVM", Functions::Smallfry, Style::BulkSync),
];

const IN_RUST: [RowOf; 2] = [
    ("Rust std", Functions::Std, Style::Sync),
    ("smallfry in Rust", Functions::Smallfry, Style::BulkSync),
];

#[derive(Serialize, Deserialize)]
struct Request {
    call: String,
    threads: Threads,
    path: String,
}

pub(crate) struct RemoveTree(Samples);

impl Scenario for RemoveTree {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        ..tree_jobs::facts(
            "remove-tree",
            "A tree removed: rm, newer tools, node:fs, fs-extra, raw calls and smallfry",
            Question::of(
                "which way removes a tree?",
                &[
                    ("the command", "smallfry rm TREE"),
                    ("Node", "node --require smallfry/register, for fs.rm"),
                    ("Rust", "smallfry::tree::Remover"),
                    ("JDK", "Smallfry.removeTree"),
                ],
            ),
            include_str!("driver.js"),
        )
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> = Some(tree_jobs::report(
        "a tree removed that was just copied and flushed",
    ));

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
        let path = samples.new_path(turn.count);
        samples.copy(turn.place.0, &path)?;
        let done = if turn.row.runtime.kind == Kind::Command {
            tree_jobs::run_command(turn, &COMMANDS, &["rm"], &[&path])
        } else {
            turn.ask(&Request {
                call: turn.row.implementation.clone(),
                threads: turn.row.way.threads,
                path: unicode(&path)?,
            })
        };
        let is_left = path.exists();
        tree_jobs::remove(&path)?;
        if is_left && done.is_ok() {
            return Err("it has left something".to_owned().into());
        }
        done
    }
}

/// Removes a tree in Rust.
fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let path = Path::new(&request.path);
    let meter = Meter::start();
    match functions {
        #[cfg(unix)]
        Functions::Raw => {
            raw::remove(path, request.threads.count()).map_err(failed("remove", path))?;
        }
        _ => tree_jobs::remove_by(functions, path)?,
    }
    Ok(Times::of(0, 0, meter.stop()))
}
