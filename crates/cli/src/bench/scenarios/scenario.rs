//! The trait of a scenario, and what it is given for each run.

use crate::bench::failure::Failure;
use crate::bench::report::page::Page;
use crate::bench::results::Results;
use crate::bench::runtime::native::failed;
use crate::bench::runtime::peer::{Peer, PeerError};
use crate::bench::runtime::protocol::{Launch, PeerFailure, Reply, Times};
use crate::bench::runtime::strace::{Flushes, Strace};
use crate::bench::runtime::{Row, peaks};
use crate::bench::session::Session;
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
    /// Serves a request in the process of a row in Rust.
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

    /// Makes one run.
    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure>;

    /// Looks at what is left after the last round.
    fn finish(&self, _: &mut Results<Self::Case>) {}

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
    pub(crate) not_cold: &'a mut Option<String>,
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

    /// Asks a fresh process of the row; in the round that is not counted, strace may count flushes.
    pub(crate) fn ask(&mut self, request: &impl Serialize) -> Result<Answer, Failure> {
        let Some(strace) = self.strace else {
            return self.ask_prepared(request, || Ok(()));
        };
        let trace = strace.trace()?;
        let peer = self.row.start_traced(&trace, &self.session.interrupt)?;
        let process = peer.id();
        let answer = self.ask_peer(peer, |peer| Ok(peer.ask(S::REQUEST, request)))?;
        *self.flushes = trace.flushes(process).ok();
        self.session.interrupt.check()?;
        Ok(answer)
    }

    /// The same; `prepare` runs when the process has started.
    pub(crate) fn ask_prepared(
        &self,
        request: &impl Serialize,
        prepare: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Answer, Failure> {
        let peer = self.row.start(&self.session.interrupt)?;
        self.ask_peer(peer, |peer| {
            prepare()?;
            Ok(peer.ask(S::REQUEST, request))
        })
    }

    /// The same; meanwhile the handles, threads and memory of the process are counted.
    pub(crate) fn ask_watched(&self, request: &impl Serialize) -> Result<Answer, Failure> {
        let peer = self.row.start(&self.session.interrupt)?;
        let mut seen = None;
        let answer = self.ask_peer(peer, |peer| {
            let watch = peaks::Watch::of(peer.id());
            let (answer, peaks) = watch.during(|| peer.ask(S::REQUEST, request));
            seen = Some(peaks);
            Ok(answer)
        })?;
        Ok(answer.map(|times| Times {
            peaks: seen,
            ..times
        }))
    }

    fn ask_peer(
        &self,
        mut peer: Peer,
        ask: impl FnOnce(&mut Peer) -> Result<Result<Reply, PeerError>, Failure>,
    ) -> Result<Answer, Failure> {
        let mut answer = peer.hello().map(Reply::Hello);
        if answer.is_ok() {
            answer = ask(&mut peer)?;
        }
        drop(peer);
        Ok(times(self.session.judge(answer)?))
    }
}

/// Returns the times in a reply.
pub(crate) fn times(answer: Result<Reply, PeerError>) -> Answer {
    match answer {
        Ok(Reply::Many(times)) => Ok(times),
        Ok(other) => Err(format!("unexpected reply {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a request.
pub(crate) fn parse<R: DeserializeOwned>(request: Value) -> Result<R, PeerFailure> {
    serde_json::from_value(request).map_err(failed("read", "the request"))
}
