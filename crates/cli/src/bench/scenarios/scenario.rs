//! What a scenario is.

use crate::bench::failure::Failure;
use crate::bench::report::page::Page;
use crate::bench::results::Results;
use crate::bench::runtime::Row;
use crate::bench::runtime::native::failed;
use crate::bench::runtime::protocol::{Launch, PeerFailure, Times};
use crate::bench::session::Session;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::io;

/// What the schedule and the command line need to know of a scenario.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    /// One line for `--help`.
    pub(crate) help: &'static str,
    /// Whether it runs when no scenario is named.
    pub(crate) unasked: bool,
    /// Its time; among several scenarios, its share.
    pub(crate) seconds: f64,
    /// With `--all`; with `counts_rounds` without it, too.
    pub(crate) rounds: usize,
    pub(crate) counts_rounds: bool,
    /// The usual time of a run, measured on two cores.
    pub(crate) turn_seconds: f64,
    pub(crate) has_jvm_rows: bool,
    /// Whether slow disks get a tenth of the files.
    pub(crate) fewer_files: bool,
    /// Whether strace counts the flushes of the round that is not counted.
    pub(crate) counts_flushes: bool,
    /// Whether turns come case by case, the cases in random order.
    pub(crate) by_case: bool,
    /// Whether there is one case, and always all of its rows.
    pub(crate) is_single: bool,
    /// The script of its rows under Node.
    pub(crate) driver: &'static str,
}

impl Facts {
    pub(crate) const fn of(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            help,
            unasked: false,
            seconds: 150.0,
            rounds: 6,
            counts_rounds: false,
            turn_seconds: 0.6,
            has_jvm_rows: false,
            fewer_files: true,
            counts_flushes: false,
            by_case: false,
            is_single: false,
            driver: "",
        }
    }
}

/// The times of a run, or why the row failed.
pub(crate) type Answer = Result<Times, String>;

pub(crate) type Show<C> = fn(&mut Page, &Session, &Results<C>);

pub(crate) type Serve = fn(&Launch, Value) -> Result<Times, PeerFailure>;

/// A kind of work; the value is what it prepares before it measures.
pub(crate) trait Scenario: Sized + 'static {
    const FACTS: Facts;
    /// The name of its requests.
    const REQUEST: &'static str = Self::FACTS.name;
    /// Its name is made of words, which `--cells` selects by.
    type Case: fmt::Display + Serialize;
    /// Shows the results.
    const SHOW: Show<Self::Case>;
    /// Does a request in the process of a row in Rust.
    const SERVE: Serve = |_, _| {
        let error = io::Error::from(io::ErrorKind::Unsupported);
        Err(failed("run", Self::FACTS.name)(error))
    };

    /// Returns the cases of this run, `--cells` aside.
    fn cases(session: &Session) -> Vec<Self::Case>;

    /// Returns the rows of a case, `--rows` aside.
    fn rows(session: &Session, case: &Self::Case) -> Vec<Row>;

    /// Makes directories and files. It may drop cases that do not fit here.
    fn prepare(session: &mut Session, cases: &mut Vec<Self::Case>) -> Result<Self, Failure>;

    /// Turns of a group come together, groups in order: what one group does to the machine must not
    /// reach the others.
    fn group(_: &Self::Case) -> usize {
        0
    }

    /// Returns how many files a run leaves until the end.
    fn new_files(_: &Self::Case) -> usize {
        0
    }

    /// Does one run.
    fn turn(&mut self, turn: &mut super::engine::Turn<Self>) -> Result<Answer, Failure>;

    /// Looks at what is left after the last round.
    fn finish(&self, _: &mut Results<Self::Case>) {}

    fn json(results: &Results<Self::Case>) -> Value {
        results.json()
    }
}

/// Reads a request.
pub(crate) fn parse<R: DeserializeOwned>(request: Value) -> Result<R, PeerFailure> {
    serde_json::from_value(request).map_err(failed("read", "the request"))
}
