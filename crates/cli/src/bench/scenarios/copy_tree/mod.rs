//! `copy-tree`: a tree copied to where nothing is, on one file system, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes, which
//! are fresh for each run: loading smallfry's core counts. A filter that accepts everything shows
//! what filters cost. Each copy is compared with the tree, and removed, which is not timed.

mod native;

use super::prelude::*;
use super::shared::tree_jobs::{self, Case, Command, Samples};

const BASELINE: &str = "cp -r";
const OWN: &str = "smallfry cp";

const COMMANDS: [Command; 5] = [
    (BASELINE, "cp", &["-r"]),
    ("cp -r A/A", "cp", &["-r"]),
    ("cpz", "cpz", &[]),
    ("fcp", "fcp", &[]),
    ("rsync -a", "rsync", &["-a", "--whole-file"]),
];

const ON_NODE: [RowOf; 7] = {
    use Functions::{Node, Smallfry};
    [
        ("Node promises.cp", Node, Style::Parallel),
        ("Node promises.cp, filter", Node, Style::Parallel),
        ("Node cpSync", Node, Style::Sync),
        ("smallfry promises.cp", Smallfry, Style::Parallel),
        ("smallfry promises.cp, filter", Smallfry, Style::Parallel),
        ("smallfry cpSync", Smallfry, Style::Sync),
        ("smallfry copyTree", Smallfry, Style::Bulk),
    ]
};

const IN_RUST: [RowOf; 2] = [
    ("Rust std, one thread", Functions::Std, Style::Sync),
    ("smallfry in Rust", Functions::Smallfry, Style::BulkSync),
];

#[derive(Serialize, Deserialize)]
struct Request {
    call: String,
    from: String,
    to: String,
}

pub(crate) struct CopyTree(Samples);

impl Scenario for CopyTree {
    const FACTS: Facts = Facts {
        seconds: 120.0,
        turn_seconds: 1.0,
        fewer_files: false,
        by_case: true,
        driver: include_str!("driver.js"),
        help: "A tree copied: cp, newer tools, node:fs and smallfry",
        ..Facts::of("copy-tree")
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> = Some(Report {
        what: "a tree copied to where nothing is",
        time: WALL,
        heading: |_, result| result.case.heading(),
        table: |page, _, view| tree_jobs::table(page, view, BASELINE),
        notes: |_| {
            vec![
                "Processes of commands count whole; rows under Node and in Rust without their start.",
            ]
        },
        sentences: |page, _, _, view| {
            view.noise(page);
            view.compare(
                page,
                place,
                &[
                    "cp -r|smallfry cp|cpz|fcp",
                    "Node promises.cp|smallfry promises.cp|smallfry copyTree",
                    "Node promises.cp, filter|smallfry promises.cp, filter",
                    "Node cpSync|smallfry cpSync",
                    "Rust std, one thread|smallfry in Rust",
                ],
            );
        },
    });

    fn cases(session: &Session) -> Vec<Case> {
        Case::all(session)
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        tree_jobs::rows(session, &COMMANDS, OWN, &ON_NODE, &IN_RUST)
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        Ok(Self(Samples::make(session, Self::FACTS.name, cases)?))
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Self(samples) = self;
        let (case, _) = turn.place;
        let (from, to) = (samples.tree(case), samples.new_path(turn.count));
        let done = if turn.row.runtime.kind == Kind::Command {
            let command = COMMANDS.iter().find(|it| it.0 == turn.row.implementation);
            let arguments = match command {
                // A slash means the contents of the directory.
                Some((_, "rsync", before)) => {
                    tree_jobs::arguments(before, &[&from.join(""), &to.join("")])?
                }
                Some((.., before)) => tree_jobs::arguments(before, &[from, &to])?,
                None => tree_jobs::arguments(&["cp", "-T"], &[from, &to])?,
            };
            let usage = turn.row.run_with(&arguments, &turn.session.interrupt)?;
            usage
                .map_err(Fault::from)
                .map(|usage| Times::of(0, 0, usage))
        } else {
            turn.ask(&Request {
                call: turn.row.implementation.clone(),
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
