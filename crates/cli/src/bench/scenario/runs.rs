//! What the scenarios share of which every run is a process of its own: the rows, the rounds, the run.

use crate::bench::arguments::Scenario;
use crate::bench::failure::Failure;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Reply, Request, Style};
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;

pub(crate) const NODE_SYNC: &str = "Node sync";
pub(crate) const NODE_PARALLEL: &str = "Node Promise.all";
/// A baseline once more: what differs between the two is noise.
pub(crate) const SYNC_AGAIN: &str = "Node sync again";
pub(crate) const PARALLEL_AGAIN: &str = "Node Promise.all again";
pub(crate) const SMALLFRY_SYNC: &str = "smallfry sync";
pub(crate) const SMALLFRY_PARALLEL: &str = "smallfry Promise.all";
pub(crate) const STD: &str = "Rust std";
pub(crate) const SMALLFRY_RUST: &str = "smallfry in Rust";

/// One row; `T` is what a run gives.
pub(crate) struct RowResult<T> {
    pub(crate) error: Option<String>,
    /// By round.
    pub(crate) runs: Vec<Option<T>>,
}

impl<T> RowResult<T> {
    pub(crate) fn for_each(rows: &[Row]) -> Vec<Self> {
        let none = || Self {
            error: None,
            runs: Vec::new(),
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

/// Each Node's two idioms, the one of style `again` twice, and smallfry's counterparts; then the same in Rust.
pub(crate) fn rows(session: &Session, again: Style) -> Vec<(Row, Style)> {
    let sync = (NODE_SYNC, Style::Sync);
    let parallel = (NODE_PARALLEL, Style::Parallel);
    let idioms = match again {
        Style::Sync => [sync, (SYNC_AGAIN, again), parallel],
        Style::Parallel => [sync, parallel, (PARALLEL_AGAIN, again)],
    };
    let ours = [
        (SMALLFRY_SYNC, Style::Sync),
        (SMALLFRY_PARALLEL, Style::Parallel),
    ];
    let mut rows = Vec::new();
    for node in &session.nodes {
        let row = |functions, (name, style)| (session.row(node, functions, name), style);
        rows.extend(idioms.map(|idiom| row(Functions::Node, idiom)));
        if node.package.is_some() {
            rows.extend(ours.map(|idiom| row(Functions::Smallfry, idiom)));
        }
    }
    for (functions, name) in [(Functions::Std, STD), (Functions::Smallfry, SMALLFRY_RUST)] {
        rows.push((Session::native_row(functions, name), Style::Sync));
    }
    rows
}

/// Rounds until the budget is spent, after one (`None`) that is thrown away; in each, every turn once, in random order. How many
/// there were.
pub(crate) fn measure(
    session: &mut Session,
    scenario: Scenario,
    turns: &[String],
    mut turn: impl FnMut(&Session, usize, Option<usize>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut schedule = Schedule::start(session.budget(scenario));
    let mut rounds = 0;
    let mut round = None;
    loop {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        session.random.shuffle(&mut order);
        for (done, index) in order.into_iter().enumerate() {
            let part = schedule.used(done as f64 / turns.len() as f64);
            session.progress.show(part, &turns[index]);
            turn(session, index, round)?;
        }
        rounds += usize::from(round.is_some());
        round = schedule.next_round();
        if round.is_none() {
            return Ok(rounds);
        }
    }
}

/// What a fresh process of the row answers, or why the row failed.
pub(crate) fn run_once(
    session: &Session,
    row: &Row,
    request: &Request,
) -> Result<Result<Reply, String>, Failure> {
    let mut peer = row.start(&session.interrupt)?;
    let answer = peer.hello().and_then(|_| peer.ask(request));
    drop(peer);
    let answer = session.judge(answer)?;
    Ok(answer.map_err(|error| error.to_string()))
}
