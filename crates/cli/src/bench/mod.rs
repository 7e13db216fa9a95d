//! `smallfry bench`: which rows there are, in what order they run, and what is made of their samples.
//!
//! - `scenario/` what is done: one file per kind of work
//! - `runtime/` who does it: a fresh process per row and round, obeying one-line requests
//! - `schedule.rs` how often: rounds until the time is spent
//! - `stats/` what the samples say
//! - `host/` on what machine
//! - `disk/` on what disk, the machine's own or a slow one
//! - `report/` to whom: the terminal, a JSON file
//!
//! Rows are interleaved: in each round every row runs each case once, in random order, through the same directories.

mod arguments;
pub(crate) mod child;
mod directories;
mod disk;
pub(crate) mod failure;
mod font;
mod host;
pub(crate) mod interrupt;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod runtime;
mod scenario;
mod schedule;
mod session;
pub(crate) mod stats;

pub(crate) use arguments::Arguments;
pub(crate) use runtime::native::{SUBCOMMAND as DRIVER, serve as drive};

use arguments::Scenario;
use failure::Failure;
use interrupt::Interrupt;
use report::{json, terminal};
use session::Session;
use std::process::ExitCode;

/// Runs it and says on one line why it stopped, if it did.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let interrupt = Interrupt::default();
    let outcome = interrupt
        .listen()
        .and_then(|()| measure(arguments, &interrupt));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            if let Failure::Said(message) = &failure {
                eprintln!("smallfry bench: {message}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Whether every row did its work.
fn measure(arguments: &Arguments, interrupt: &Interrupt) -> Result<bool, Failure> {
    terminal::first_line(arguments);
    let json = arguments
        .json
        .as_deref()
        .map(json::File::create)
        .transpose()?;
    let mut session = Session::open(arguments, interrupt)?;
    terminal::opening(&session);
    let mut results = Results::default();
    for scenario in session.plan.scenarios.clone() {
        match scenario {
            Scenario::Build => results.build = Some(scenario::build::run(&mut session)?),
            Scenario::WriteString => {
                results.write_string = Some(scenario::write_string::run(&mut session)?);
            }
            Scenario::ReadMany => {
                results.read_many = Some(scenario::read_many::run(&mut session)?);
            }
            Scenario::WriteMany => {
                results.write_many = Some(scenario::write_many::run(&mut session)?);
            }
            Scenario::Close => results.close = Some(scenario::close::run(&mut session)?),
            Scenario::Scale => results.scale = Some(scenario::scale::run(&mut session)?),
            Scenario::Sync => results.sync = Some(scenario::sync::run(&mut session)?),
            Scenario::SyncMany => {
                results.sync_many = Some(scenario::sync_many::run(&mut session)?);
            }
            Scenario::PackageScope => {
                results.package_scope = Some(scenario::package_scope::run(&mut session)?);
            }
        }
    }
    session.progress.finish();
    terminal::results(&session, &results);
    if let Some(file) = json {
        file.write(&session, &results)?;
    }
    let complete = results.failures() == 0;
    session.close()?;
    Ok(complete)
}

/// What was measured.
#[derive(Default)]
pub(crate) struct Results {
    build: Option<scenario::build::Results>,
    write_string: Option<scenario::write_string::Results>,
    read_many: Option<scenario::read_many::Results>,
    write_many: Option<scenario::write_many::Results>,
    close: Option<scenario::close::Results>,
    scale: Option<scenario::scale::Results>,
    sync: Option<scenario::sync::Results>,
    sync_many: Option<scenario::sync_many::Results>,
    package_scope: Option<scenario::package_scope::Results>,
}

impl Results {
    /// Rows that failed somewhere.
    fn failures(&self) -> usize {
        let Self {
            build,
            write_string,
            read_many,
            write_many,
            close,
            scale,
            sync,
            sync_many,
            package_scope,
        } = self;
        [
            build.as_ref().map(scenario::build::Results::failures),
            write_string
                .as_ref()
                .map(scenario::write_string::Results::failures),
            read_many
                .as_ref()
                .map(scenario::read_many::Results::failures),
            write_many
                .as_ref()
                .map(scenario::write_many::Results::failures),
            close.as_ref().map(scenario::close::Results::failures),
            scale.as_ref().map(scenario::scale::Results::failures),
            sync.as_ref().map(scenario::sync::Results::failures),
            sync_many
                .as_ref()
                .map(scenario::sync_many::Results::failures),
            package_scope
                .as_ref()
                .map(scenario::package_scope::Results::failures),
        ]
        .into_iter()
        .flatten()
        .sum()
    }
}
