//! The trait of a scenario, and what it is given for each run.

use crate::bench::report::answer::Question;
use crate::bench::report::cases::Report;
use crate::bench::report::page::Page;
use crate::bench::report::view::{Time, WALL};
use crate::bench::results::Results;
use crate::bench::runtime::Row;
use crate::bench::runtime::native::failed;
use crate::bench::runtime::peer::PeerError;
use crate::bench::runtime::protocol::{Launch, PeerFailure, Reply, Times};
use crate::bench::runtime::strace::{Flushes, Strace};
use crate::bench::session::Session;
use crate::failure::Failure;
use derive_more::From;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::io;

/// The facts that the schedule and the command line need of a scenario.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    /// One line for `--help`.
    pub(crate) help: &'static str,
    /// The question that its first screen answers; `None` if it makes a screen of its own.
    pub(crate) question: Option<Question>,
    /// True if it runs when no scenario is named.
    pub(crate) unasked: bool,
    /// Its time; among several scenarios, its share.
    pub(crate) seconds: f64,
    /// The number of rounds with `--all`, and with `counts_rounds` without it too.
    pub(crate) rounds: usize,
    pub(crate) counts_rounds: bool,
    /// The usual time of a run, measured on two cores.
    pub(crate) turn_seconds: f64,
    pub(crate) has_jvm_rows: bool,
    /// True if slow disks get a tenth of the files.
    pub(crate) fewer_files: bool,
    /// True if strace counts the flushes of the round that is not counted.
    pub(crate) counts_flushes: bool,
    /// True if turns come case by case, the cases in random order.
    pub(crate) by_case: bool,
    /// True if there is one case, and always all of its rows.
    pub(crate) is_single: bool,
    /// The script of its rows under Node.
    pub(crate) driver: &'static str,
}

impl Facts {
    pub(crate) const fn of(name: &'static str) -> Self {
        Self {
            name,
            help: "",
            question: None,
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

/// The reason why a run has no times.
#[derive(From)]
pub(crate) enum Fault {
    /// The row failed, and is not run again.
    Row(String),
    /// The bench stops.
    Stop(Failure),
}

pub(crate) type Serve = fn(&Launch, Value) -> Result<Times, PeerFailure>;

/// A kind of work; the value is what it prepares before it measures.
pub(crate) trait Scenario: Sized + 'static {
    const FACTS: Facts;
    /// The name of its requests.
    const REQUEST: &'static str = Self::FACTS.name;
    /// Its name is made of words, which `--cells` selects by.
    type Case: fmt::Display + Serialize;
    /// The report of its cases, if that is all to show.
    const REPORT: Option<Report<Self::Case>> = None;
    /// The work that a sample times, as result files name it.
    const SAMPLE: &'static str = "run";
    /// Serves a request in the process of a row in Rust.
    const SERVE: Serve = |_, _| {
        let error = io::Error::from(io::ErrorKind::Unsupported);
        Err(failed("run", Self::FACTS.name)(error))
    };

    /// Returns the time that counts of each run.
    fn time() -> Time {
        Self::REPORT.map_or(WALL, |report| report.time)
    }

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

    /// Makes one run.
    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault>;

    /// Looks at what is left after the last round.
    fn finish(&self, _: &mut Results<Self::Case>) {}

    /// Shows the results.
    fn show(page: &mut Page, session: &Session, results: &Results<Self::Case>) {
        if let Some(report) = Self::REPORT {
            report.show(Self::FACTS.name, page, session, results);
        }
    }

    fn json(results: &Results<Self::Case>) -> Value {
        results.json()
    }
}

/// The outputs that rounds rotate through.
pub(crate) const OUTPUTS: usize = 4;

/// One row's part in a round.
pub(crate) struct Turn<'a, S: Scenario> {
    pub(crate) session: &'a Session,
    /// The indices of the case, and of the row in it.
    pub(crate) place: (usize, usize),
    pub(crate) case: &'a mut S::Case,
    pub(crate) row: &'a Row,
    /// All rows of the case.
    pub(crate) rows: &'a [Row],
    /// The reason why the cache was not cold where it should have been.
    pub(super) not_cold: &'a mut Option<String>,
    pub(super) flushes: &'a mut Option<Flushes>,
    pub(super) strace: Option<&'a Strace>,
    pub(crate) round: Option<usize>,
    /// The number of this turn.
    pub(crate) count: usize,
}

impl<S: Scenario> Turn<'_, S> {
    /// Returns true if contents are compared, and not only lengths: in the round that is not
    /// counted.
    pub(crate) fn is_careful(&self) -> bool {
        self.round.is_none()
    }

    /// Returns the index of this round's output.
    pub(crate) fn output(&self) -> usize {
        self.round.unwrap_or(0) % OUTPUTS
    }

    /// Notes why the cache was not cold, if it was not.
    pub(crate) fn note_not_cold(&mut self, reason: Option<String>) {
        *self.not_cold = self.not_cold.take().or(reason);
    }

    /// Asks a fresh process of the row; in the round that is not counted, strace may count flushes.
    pub(crate) fn ask(&mut self, request: &impl Serialize) -> Result<Times, Fault> {
        self.ask_within(request, |_, ask| ask())
    }

    /// The same; `around` is given the process id when the process has started, and asks.
    pub(crate) fn ask_within(
        &mut self,
        request: &impl Serialize,
        around: impl FnOnce(u32, &mut dyn FnMut() -> Answer) -> Answer,
    ) -> Result<Times, Fault> {
        let interrupt = &self.session.interrupt;
        let trace = self.strace.map(Strace::trace).transpose()?;
        let mut launch = self.row.launch.clone();
        launch.warm_up &= trace.is_none();
        let runtime = &self.row.runtime;
        let mut peer = runtime.start(&launch, trace.as_ref(), interrupt)?;
        let process = peer.id();
        let answer = match peer.hello() {
            Ok(_) => around(process, &mut || peer.ask(S::REQUEST, request)),
            Err(error) => Err(error),
        };
        drop(peer);
        if let Some(trace) = trace {
            *self.flushes = trace.flushes(process);
        }
        times(self.session, answer)
    }
}

type Answer = Result<Reply, PeerError>;

/// Returns the times in a reply. An interrupt, and a directory that is unfit for all rows, stop the
/// bench.
pub(crate) fn times(session: &Session, answer: Answer) -> Result<Times, Fault> {
    session.interrupt.check()?;
    match answer {
        Ok(Reply::Many(times)) => Ok(times),
        Ok(other) => Err(Fault::Row(format!("unexpected reply {other:?}"))),
        Err(PeerError::Failed(failure)) if failure.is_the_directory() => {
            Err(Failure::said(failure.to_string()).into())
        }
        Err(error) => Err(Fault::Row(error.to_string())),
    }
}

/// Reads a request.
pub(crate) fn parse<R: DeserializeOwned>(request: Value) -> Result<R, PeerFailure> {
    serde_json::from_value(request).map_err(failed("read", "the request"))
}
