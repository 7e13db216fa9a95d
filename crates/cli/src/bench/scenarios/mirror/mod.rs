//! `mirror`: a tree mirrored to where nothing is, or to a mirror that is the same or almost so, on
//! one file system, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes, which
//! are fresh for each run: loading smallfry's core counts. All rows find the same mirror, since
//! each of them makes it like the tree again. That is compared, which is not timed. rsync is not
//! asked to keep hard links, which smallfry does.

use super::prelude::*;
use super::shared::outputs::flush;
use super::shared::rows::RowOf;
use super::shared::tree_jobs::{self, Command, Sample, Samples};
use super::shared::trees::walk;
use smallfry::tree::Mirror as Mirroring;
use std::io::Write as _;

const OWN: &str = "smallfry mirror";

const BY_TIME: [Command; 1] = [("rsync", "rsync", &["-a", "--delete"])];
const BY_CONTENTS: [Command; 1] = [("rsync", "rsync", &["-a", "--delete", "-c"])];

const ON_NODE: [RowOf; 1] = [("smallfry mirrorTree", Functions::Smallfry, Style::Bulk)];

const IN_RUST: [RowOf; 1] = [("smallfry in Rust", Functions::Smallfry, Style::BulkSync)];

/// The number of files of which one changes.
const FILES_PER_CHANGE: usize = 100;

/// The mirror that a run finds, and the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
enum Task {
    #[display("new")]
    New,
    #[display("unchanged")]
    Unchanged,
    /// Some files have changed.
    #[display("1 % changed")]
    Changed,
    /// Nothing has changed, and files are compared by contents.
    #[display("by contents")]
    Contents,
}

/// A tree, and what is done with it.
#[derive(Clone, Copy, Serialize, Display, AsRef, AsMut)]
#[display("{of}, {task}")]
pub(crate) struct Case {
    #[serde(flatten)]
    #[as_ref]
    #[as_mut]
    of: tree_jobs::Case,
    task: Task,
}

impl Case {
    const fn commands(&self) -> &'static [Command] {
        match self.task {
            Task::Contents => &BY_CONTENTS,
            _ => &BY_TIME,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Request {
    call: String,
    from: String,
    to: String,
    contents: bool,
}

pub(crate) struct Mirror {
    samples: Samples,
    /// The samples that cases are of.
    trees: Vec<usize>,
}

impl Scenario for Mirror {
    const FACTS: Facts = tree_jobs::facts(
        "mirror",
        "A tree mirrored, new and again: rsync and smallfry",
        Question::of(
            "which way brings a copy up to date?",
            &[("the command", "smallfry mirror FROM TO")],
        ),
        include_str!("driver.js"),
    );
    type Case = Case;
    const SERVE: Serve = |_, request| run(&parse(request)?);
    const REPORT: Option<Report<Case>> = Some(tree_jobs::report("a tree mirrored"));

    fn cases(session: &Session) -> Vec<Case> {
        let cases = tree_jobs::Case::all(session).into_iter();
        let cases = cases.flat_map(|of| {
            let tasks: &[Task] = match of.sample() {
                Sample::Tree => &[Task::New, Task::Unchanged, Task::Changed, Task::Contents],
                Sample::Font | Sample::Workspace => &[Task::New, Task::Unchanged],
                Sample::Flat => &[Task::Unchanged],
                Sample::Large => &[Task::Contents],
            };
            tasks.iter().map(move |&task| Case { of, task })
        });
        cases.collect()
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        tree_jobs::rows(session, case.commands(), OWN, [&ON_NODE, &[], &IN_RUST])
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let (samples, trees) = Samples::of(session, Self::FACTS.name, cases)?;
        Ok(Self { samples, trees })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Self { samples, trees } = self;
        let (tree, task) = (trees[turn.place.0], turn.case.task);
        let from = samples.tree(tree);
        let to = samples.path(&turn.case.to_string());
        prepare(task, from, &to)?;
        let contents = task == Task::Contents;
        let done = if turn.row.runtime.kind == Kind::Command {
            let own: &[&str] = if contents {
                &["mirror", "--delete", "-c"]
            } else {
                &["mirror", "--delete"]
            };
            // To rsync a slash means the contents of the directory.
            let source = from.join("");
            tree_jobs::run_command(turn, turn.case.commands(), own, &[&source, &to])
        } else {
            turn.ask(&Request {
                call: turn.row.implementation.clone(),
                from: unicode(from)?,
                to: unicode(&to)?,
                contents,
            })
        };
        let checked = done.and_then(|times| {
            samples.compare(tree, &to, turn.is_careful())?;
            Ok(times)
        });
        if checked.is_err() || task == Task::New {
            tree_jobs::remove(&to)?;
        }
        checked
    }
}

/// Makes the mirror that a run finds.
fn prepare(task: Task, from: &Path, to: &Path) -> Result<(), Failure> {
    if task != Task::New && !to.exists() {
        let mirrored = Mirroring::new().run(from, to);
        mirrored.map_err(Failure::at("mirror", from))?;
        flush(to)?;
    }
    if task == Task::Changed {
        let files = walk(to, |_| true).map_err(Failure::at("read directory", to))?;
        for file in files.iter().step_by(FILES_PER_CHANGE) {
            let path = to.join(file);
            let file = File::options().append(true).open(&path);
            file.and_then(|mut file| file.write_all(b"x"))
                .map_err(Failure::at("write", &path))?;
        }
    }
    Ok(())
}

/// Mirrors a tree in Rust.
fn run(request: &Request) -> Result<Times, PeerFailure> {
    let meter = Meter::start();
    let mut mirroring = Mirroring::new();
    mirroring.delete(true).contents(request.contents);
    let mirrored = mirroring.run(&request.from, &request.to);
    mirrored
        .map_err(io::Error::other)
        .map_err(failed("mirror", &request.from))?;
    Ok(Times::of(0, 0, meter.stop()))
}
