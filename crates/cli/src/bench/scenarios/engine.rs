//! Runs a scenario: rounds until the budget is spent, each run in a process of its own.

use super::left_out::{LeftOut, is_needed};
use super::scenario::{Fault, Scenario, Turn};
use super::selection::{cases, rows};
use crate::bench::results::{CaseResult, Results};
use crate::bench::runtime::strace::Strace;
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;
use crate::failure::Failure;
use crate::host;
use std::time::Instant;

/// Returns the number of runs in a round.
pub(super) fn turns<S: Scenario>(session: &Session) -> usize {
    let cases = cases::<S>(session).unwrap_or_default();
    let turns = cases.iter().map(|case| rows::<S>(session, case).len());
    turns.sum()
}

/// Measures until the budget is spent.
pub(super) fn run<S: Scenario>(session: &mut Session) -> Result<Results<S::Case>, Failure> {
    let mut cases = cases::<S>(session)?;
    let min_runs = session.options.min_runs.unwrap_or(0) as usize;
    let mut schedule = Schedule::start(session.budget, min_runs);
    let mut scenario = S::prepare(session, &mut cases)?;
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for case in cases {
        let rows = rows::<S>(session, &case);
        if !rows.is_empty() {
            results.cases.push(CaseResult::new(case, rows));
        }
    }
    let texts = &session.options.rows;
    if results.cases.is_empty() && !texts.is_empty() {
        let texts = texts.join(",");
        let none = format!("no row has {texts:?} in its name; without --rows all are measured");
        let mut lines = vec![none];
        lines.extend_from_slice(&session.skips.borrow());
        return Err(Failure::said(lines.join("\n  ")));
    }
    // A system without strace gets a note.
    let note = |reason| session.leave_out(format!("flushes are not counted: {reason}"));
    let strace = S::FACTS.counts_flushes.then(Strace::find);
    let strace = strace.and_then(|found| found.map_err(note).ok());
    let left_out = measure(
        session,
        &mut scenario,
        &mut results,
        &mut schedule,
        strace.as_ref(),
    )?;
    left_out.drop_from(session, S::FACTS.name, &mut results);
    scenario.finish(&mut results);
    Ok(results)
}

/// Runs rounds until the budget is spent, after those that are not counted, the first of them
/// `None`; in each, every row of every case once, in random order within its group. Returns the
/// cases and rows that were left out, because the first rounds show that there is no time for them.
fn measure<S: Scenario>(
    session: &mut Session,
    scenario: &mut S,
    results: &mut Results<S::Case>,
    schedule: &mut Schedule,
    strace: Option<&Strace>,
) -> Result<LeftOut, Failure> {
    let mut places = Vec::new();
    for (index, result) in results.cases.iter().enumerate() {
        places.extend((0..result.rows.len()).map(|row| (index, row)));
    }
    let new = |result: &CaseResult<S::Case>| result.rows.len() * S::new_files(&result.case);
    let new_files: usize = results.cases.iter().map(new).sum();
    schedule.count_removal(new_files);
    let max_rounds = max_rounds(session, new_files);
    let keeps_rows = S::FACTS.is_single || !session.options.rows.is_empty();
    let mut left_out = LeftOut::new(keeps_rows);
    let mut round = None;
    let mut rounds = 0..;
    let mut warm_ups = session.options.warmup;
    let mut count = 0;
    schedule.begin();
    loop {
        session.random.shuffle(&mut places);
        let mut order: Vec<usize> = (0..results.cases.len()).collect();
        session.random.shuffle(&mut order);
        // The first round takes one case after the other, and in each the needed rows first, to find
        // out how many there is time for.
        let group = |&(case, row): &(usize, usize)| {
            let CaseResult { case: of, rows, .. } = &results.cases[case];
            match round {
                None => (S::group(of), case, !is_needed(rows, row)),
                Some(_) if S::FACTS.by_case => (order[case], 0, false),
                Some(_) => (S::group(of), 0, false),
            }
        };
        places.sort_by_cached_key(group);
        left_out.begin_round(round, places.first().map_or(0, |(case, _)| *case));
        for (done, &(case, row)) in places.iter().enumerate() {
            count += 1;
            let rows = &results.cases[left_out.first()].rows;
            if round.is_none()
                && (left_out.skips(case, rows, schedule)
                    || left_out.skips_row((case, row), rows, schedule))
            {
                continue;
            }
            let turn_started = Instant::now();
            let result = &mut results.cases[case];
            let part = schedule.used(done as f64 / places.len() as f64);
            let (name, label) = (S::FACTS.name, &result.rows[row].label);
            let what = format!("{name}: {}, {label}", result.case);
            session.progress.show(part, &what);
            // A slow disk's own cache holds what the turn before read, whatever the kernel drops.
            session.directories.empty_device_cache().map_err(|error| {
                Failure::said(format!("cannot empty the slow disk's cache: {error}"))
            })?;
            if result.outcomes[row].error.is_some() {
                continue;
            }
            // A row that is another once more runs by that name.
            let row_of_turn = result.rows[row].as_original();
            let mut turn = Turn {
                session,
                place: (case, row),
                case: &mut result.case,
                row: &row_of_turn,
                rows: &result.rows,
                not_cold: &mut result.not_cold,
                flushes: &mut result.outcomes[row].flushes,
                strace: strace.filter(|_| round.is_none()),
                round,
                count,
            };
            let answer = match scenario.turn(&mut turn) {
                Err(Fault::Stop(failure)) => return Err(failure),
                Err(Fault::Row(reason)) => Err(reason),
                Ok(times) => Ok(times),
            };
            result.outcomes[row].record(answer, warm_ups == 0);
            left_out.took(round, case, row, turn_started.elapsed());
        }
        if let Some(first) = results.cases.get(left_out.first()) {
            left_out.end_round(round, &first.rows, schedule);
        }
        places.retain(|place| !left_out.has(*place));
        results.rounds += usize::from(warm_ups == 0);
        warm_ups = warm_ups.saturating_sub(1);
        let full = max_rounds.is_some_and(|max| results.rounds >= max);
        if warm_ups == 0 && (full || !schedule.goes_on()) {
            return Ok(left_out);
        }
        round = rounds.next();
    }
}

/// Returns how many rounds of so many new files leave half of the free inodes to others.
fn max_rounds(session: &Session, new_files: usize) -> Option<usize> {
    let free = host::free_inodes(&session.directories.on_disk(0)).unwrap_or(2_000_000);
    // One goes to the round that is not counted.
    let max = (free as usize / 2).checked_div(new_files)?;
    Some(max.saturating_sub(1).max(1))
}
