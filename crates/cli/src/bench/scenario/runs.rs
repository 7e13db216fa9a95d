//! What the scenarios share of which every run is a process of its own: the rounds, the run.

use crate::bench::arguments::Scenario;
use crate::bench::failure::Failure;
use crate::bench::runtime::Row;
use crate::bench::runtime::peaks;
use crate::bench::runtime::peer::{Peer, PeerError};
use crate::bench::runtime::protocol::{Peaks, Reply, Request};
use crate::bench::runtime::strace::{Flushes, Strace};
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;

/// One row; `T` is what a run gives.
pub(crate) struct RowResult<T> {
    pub(crate) error: Option<String>,
    /// By round.
    pub(crate) runs: Vec<Option<T>>,
    /// Of a run that was not timed, where they were counted.
    pub(crate) flushes: Option<Flushes>,
}

impl<T> RowResult<T> {
    pub(crate) fn for_each(rows: &[Row]) -> Vec<Self> {
        let none = || Self {
            error: None,
            runs: Vec::new(),
            flushes: None,
        };
        rows.iter().map(|_| none()).collect()
    }

    pub(crate) fn failures(outcomes: &[Self]) -> usize {
        outcomes.iter().filter(|row| row.error.is_some()).count()
    }

    /// The first round meets whatever the file system was left in: of it only the failures count.
    pub(crate) fn record(&mut self, run: Result<T, String>, round: Option<usize>) {
        self.error = run.as_ref().err().cloned();
        if round.is_some() {
            self.runs.push(run.ok());
        }
    }
}

/// Rounds until the budget is spent, after one (`None`) that is thrown away; in each, every turn once, in random order within its
/// group. How many there were.
pub(crate) fn measure(
    session: &mut Session,
    scenario: Scenario,
    turns: &[Turn],
    mut turn: impl FnMut(&Session, usize, Option<usize>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let texts = &session.arguments.rows;
    if turns.is_empty() && !texts.is_empty() {
        let none = format!(
            "no row has {:?} in its name; without --rows all are measured",
            texts.join(",")
        );
        let mut lines = vec![none];
        lines.extend_from_slice(&session.skips);
        return Err(Failure::said(lines.join("\n  ")));
    }
    let mut schedule = Schedule::start(session.budget(scenario));
    let mut rounds = 0;
    let mut round = None;
    loop {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        session.random.shuffle(&mut order);
        order.sort_by_key(|index| turns[*index].group);
        for (done, index) in order.into_iter().enumerate() {
            let part = schedule.used(done as f64 / turns.len() as f64);
            session.progress.show(part, &turns[index].name);
            // A slow disk's own cache holds what the turn before read, whatever the kernel drops.
            session.directories.empty_device_cache().map_err(|error| {
                Failure::said(format!("cannot empty the slow disk's cache: {error}"))
            })?;
            turn(session, index, round)?;
        }
        rounds += usize::from(round.is_some());
        let full = session.max_rounds.is_some_and(|most| rounds >= most);
        round = schedule.next_round().filter(|_| !full);
        if round.is_none() {
            return Ok(rounds);
        }
    }
}

/// One row's part in a round.
pub(crate) struct Turn {
    pub(crate) name: String,
    /// Turns of a group come together, groups in order: what one does to the machine must not reach the others.
    pub(crate) group: usize,
}

/// What a fresh process of the row answers, or why the row failed.
pub(crate) fn run_once(
    session: &Session,
    row: &Row,
    request: &Request,
) -> Result<Result<Reply, String>, Failure> {
    run_prepared(session, row, request, || Ok(()))
}

/// The same; what is to be prepared is, when the process has started.
pub(crate) fn run_prepared(
    session: &Session,
    row: &Row,
    request: &Request,
    prepare: impl FnOnce() -> Result<(), Failure>,
) -> Result<Result<Reply, String>, Failure> {
    run(session, row, |peer| {
        prepare()?;
        Ok(peer.ask(request))
    })
}

/// The same; while it runs, what the process has open is counted, and its threads and memory.
pub(crate) fn run_watched(
    session: &Session,
    row: &Row,
    request: &Request,
) -> Result<Result<(Reply, Peaks), String>, Failure> {
    let mut seen = Peaks::default();
    let answer = run(session, row, |peer| {
        let watch = peaks::Watch::of(peer.id());
        let (answer, peaks) = watch.during(|| peer.ask(request));
        seen = peaks;
        Ok(answer)
    })?;
    Ok(answer.map(|reply| (reply, seen)))
}

/// The same; with `strace` what the process flushes is counted too, which takes time.
pub(crate) fn run_perhaps_counted(
    session: &Session,
    row: &Row,
    request: &Request,
    strace: Option<&Strace>,
) -> Result<(Result<Reply, String>, Option<Flushes>), Failure> {
    let Some(strace) = strace else {
        return Ok((run_once(session, row, request)?, None));
    };
    let trace = strace.trace()?;
    let mut peer = row.start_traced(&trace, &session.interrupt)?;
    let process = peer.id();
    let answer = peer.hello().and_then(|_| peer.ask(request));
    drop(peer);
    let answer = session.judge(answer)?.map_err(|error| error.to_string());
    let flushes = trace.flushes(process).ok();
    session.interrupt.check()?;
    Ok((answer, flushes))
}

fn run(
    session: &Session,
    row: &Row,
    ask: impl FnOnce(&mut Peer) -> Result<Result<Reply, PeerError>, Failure>,
) -> Result<Result<Reply, String>, Failure> {
    let mut peer = row.start(&session.interrupt)?;
    let mut answer = peer.hello().map(Reply::Hello);
    if answer.is_ok() {
        answer = ask(&mut peer)?;
    }
    drop(peer);
    let answer = session.judge(answer)?;
    Ok(answer.map_err(|error| error.to_string()))
}
