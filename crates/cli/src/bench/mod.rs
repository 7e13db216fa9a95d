//! `smallfry bench`: measures file operations on a disk, row by row, and says what the samples
//! mean.
//!
//! - `scenarios/` the kinds of work: a directory each
//! - `runtime/` the processes that do it, obeying one-line requests: a fresh one per run, in
//!   `write-string` one per row and round
//! - `schedule.rs`, `plan.rs` the time that it takes: rounds until the time is spent
//! - `disk.rs` the disk, the machine's own or a slow one
//! - `report/` screens, tables and sentences
//!
//! `../stats/` has what samples say, `../host/` the machine, `../export/` the result files.
//!
//! Rows are interleaved: in each round every row runs each case once, in random order, through the
//! same directories.

mod advise;
mod arguments;
mod directories;
mod disk;
mod document;
mod options;
mod plan;
mod report;
mod results;
pub(crate) mod runtime;
mod scenarios;
mod schedule;
mod serve;
mod session;
mod terminal;

pub(crate) use advise::{Arguments as Advise, run as advise};
pub(crate) use arguments::Arguments;
pub(crate) use runtime::native::SUBCOMMAND as DRIVER;
pub(crate) use serve::serve as drive;

use crate::export::Exports;
use crate::failure::{self, Failure};
use crate::process::interrupt::Interrupt;
use report::page::Page;
use runtime::node;
use session::Session;
use std::process::ExitCode;

/// Runs the bench and says on one line why it stopped, if it did.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.options.list {
        terminal::list();
        return ExitCode::SUCCESS;
    }
    let interrupt = Interrupt::default();
    let outcome = interrupt
        .listen()
        .and_then(|()| measure(arguments, &interrupt));
    failure::exit_code("bench", outcome)
}

/// Measures, and returns whether every row did its work.
fn measure(arguments: &Arguments, interrupt: &Interrupt) -> Result<bool, Failure> {
    let (options, plan) = (&arguments.options, plan::of(arguments));
    terminal::first_line(options, &plan);
    let exports = Exports::create(&options.exports)?;
    let script = node::script(scenarios::drivers());
    let needs_jvm = plan.iter().any(|(scenario, _)| scenario.facts.has_jvm_rows);
    let mut session = Session::open(options, &script, needs_jvm, interrupt)?;
    session.is_named = !arguments.scenarios.is_empty();
    terminal::opening(&session, &plan);
    let (mut page, mut results) = (Page::default(), Vec::new());
    for (scenario, budget) in plan {
        session.budget = budget;
        results.push((scenario, (scenario.run)(&mut session, &mut page)?));
    }
    session.progress.finish();
    terminal::results(&session, page);
    let document = document::of(&session, &results);
    exports.put(&document, document::more(arguments, &session, &results))?;
    let complete = results.iter().all(|(_, measured)| measured.failures == 0);
    session.directories.remove()?;
    Ok(complete)
}
