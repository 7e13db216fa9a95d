//! Runs a scenario: rounds until the budget is spent, each run in a process of its own.

use super::scenario::{Fault, Scenario, Turn};
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::results::{CaseResult, Results};
use crate::bench::runtime::Row;
use crate::bench::runtime::strace::Strace;
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;
use std::collections::BTreeSet;
use std::fmt::Display;

/// Returns the number of runs in a round.
pub(super) fn turns<S: Scenario>(session: &Session) -> usize {
    let cases = cases::<S>(session).unwrap_or_default();
    let turns = cases.iter().map(|case| rows::<S>(session, case).len());
    turns.sum()
}

/// Returns the cases whose names hold all the words of `--cells`.
fn cases<S: Scenario>(session: &Session) -> Result<Vec<S::Case>, Failure> {
    let mut cases = S::cases(session);
    let words = session.options.cells.as_deref();
    let Some(words) = words.filter(|_| !S::FACTS.is_single) else {
        return Ok(cases);
    };
    let example = cases.first().map(ToString::to_string).unwrap_or_default();
    cases.retain(|case| has_words(&case.to_string(), words));
    if cases.is_empty() {
        let name = S::FACTS.name;
        return Err(Failure::said(format!(
            "no case of {name} has all the words {words:?}; one has {example:?}"
        )));
    }
    Ok(cases)
}

/// Returns true if a name has all the words. Commas do not count.
fn has_words(name: &str, words: &str) -> bool {
    parts(words).all(|word| parts(name).any(|part| part == word))
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|part| !part.is_empty())
}

/// Returns the rows that `--rows` selects, and what shows how far equal rows differ: a baseline, in
/// a runtime of these rows if there is one, and the row that is the same once more. A text that is a
/// whole name selects that row alone.
fn rows<S: Scenario>(session: &Session, case: &S::Case) -> Vec<Row> {
    let mut rows = S::rows(session, case);
    let texts = &session.options.rows;
    if !texts.is_empty() && !S::FACTS.is_single {
        let names: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
        let is_selected = |row: &Row| {
            texts.iter().map(|text| text.trim()).any(|text| {
                let is_name = names.iter().any(|name| name == text);
                row.label == text || !is_name && row.label.contains(text)
            })
        };
        let selected: Vec<&Row> = rows.iter().filter(|row| is_selected(row)).collect();
        let noise = noise_rows(&rows, &selected);
        let kept: Vec<bool> = rows
            .iter()
            .map(|row| is_selected(row) || noise.contains(&row.label))
            .collect();
        let mut kept = kept.into_iter();
        rows.retain(|_| kept.next().unwrap_or(false));
    }
    rows
}

/// Returns the labels of a baseline and of the row that is the same once more, if rows are selected
/// and have no such pair.
fn noise_rows(rows: &[Row], selected: &[&Row]) -> Vec<String> {
    let pairs = || {
        rows.iter().filter_map(|itself| {
            let name = itself.implementation.strip_suffix(" A/A")?;
            let is_it = |row: &&Row| {
                row.implementation == name && row.runtime.name() == itself.runtime.name()
            };
            Some([rows.iter().find(is_it)?, itself])
        })
    };
    let is_among = |row: &Row| selected.iter().any(|it| it.label == row.label);
    let is_alike = |row: &Row| {
        selected
            .iter()
            .any(|it| it.runtime.name() == row.runtime.name())
    };
    if selected.is_empty() || pairs().any(|pair| pair.into_iter().all(is_among)) {
        return Vec::new();
    }
    let mut own = pairs().filter(|[baseline, _]| is_alike(baseline));
    let begun = pairs().find(|[baseline, _]| is_among(baseline));
    let found = begun.or_else(|| own.next()).or_else(|| pairs().next());
    found.map_or(Vec::new(), |pair| pair.map(|row| row.label.clone()).into())
}

/// Measures until the budget is spent.
pub(super) fn run<S: Scenario>(session: &mut Session) -> Result<Results<S::Case>, Failure> {
    let mut cases = cases::<S>(session)?;
    let mut schedule = Schedule::start(session.budget);
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
    drop_cases(session, S::FACTS.name, &mut results, &left_out);
    scenario.finish(&mut results);
    Ok(results)
}

/// Drops the cases that were left out, and says what adds them.
fn drop_cases<C: Display>(
    session: &Session,
    name: &str,
    results: &mut Results<C>,
    left_out: &BTreeSet<usize>,
) {
    let Some(first) = left_out.first() else {
        return;
    };
    let first = &results.cases[*first].case;
    session.leave_out(format!(
        "{} of {} cases left out, which take too long here: smallfry bench {name} --cells {:?}, or \
         --all for all",
        left_out.len(),
        results.cases.len(),
        first.to_string().replace(',', "")
    ));
    let mut index = 0..;
    results
        .cases
        .retain(|_| index.next().is_none_or(|index| !left_out.contains(&index)));
}

/// Runs rounds until the budget is spent, after one (`None`) that is not counted; in each, every
/// row of every case once, in random order within its group. Returns the cases that were left out,
/// because that first round shows that there is no time for them.
fn measure<S: Scenario>(
    session: &mut Session,
    scenario: &mut S,
    results: &mut Results<S::Case>,
    schedule: &mut Schedule,
    strace: Option<&Strace>,
) -> Result<BTreeSet<usize>, Failure> {
    let mut places = Vec::new();
    for (index, result) in results.cases.iter().enumerate() {
        places.extend((0..result.rows.len()).map(|row| (index, row)));
    }
    let max_rounds = max_rounds::<S>(session, results);
    let mut left_out = BTreeSet::new();
    let mut round = None;
    let mut count = 0;
    schedule.begin();
    loop {
        session.random.shuffle(&mut places);
        let mut order: Vec<usize> = (0..results.cases.len()).collect();
        session.random.shuffle(&mut order);
        // The first round takes one case after the other, to find out how many there is time for.
        let group = |(case, _): &(usize, usize)| match round {
            None => (S::group(&results.cases[*case].case), *case),
            Some(_) if S::FACTS.by_case => (order[*case], 0),
            Some(_) => (S::group(&results.cases[*case].case), 0),
        };
        places.sort_by_cached_key(group);
        let mut begun = BTreeSet::new();
        for (done, &(case, row)) in places.iter().enumerate() {
            count += 1;
            if round.is_none() && !begun.contains(&case) {
                if !begun.is_empty() && !schedule.fits_so_far() {
                    left_out.insert(case);
                    continue;
                }
                begun.insert(case);
            }
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
            let mut turn = Turn {
                session,
                place: (case, row),
                case: &mut result.case,
                row: &result.rows[row],
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
            result.outcomes[row].record(answer, round);
        }
        places.retain(|(case, _)| !left_out.contains(case));
        results.rounds += usize::from(round.is_some());
        let full = max_rounds.is_some_and(|max| results.rounds >= max);
        round = schedule.next_round().filter(|_| !full);
        if round.is_none() {
            return Ok(left_out);
        }
    }
}

/// Returns how many rounds leave half of the free inodes to others.
fn max_rounds<S: Scenario>(session: &Session, results: &Results<S::Case>) -> Option<usize> {
    let new = |result: &CaseResult<S::Case>| result.rows.len() * S::new_files(&result.case);
    let per_round: usize = results.cases.iter().map(new).sum();
    let free = host::free_inodes(&session.directories.on_disk(0)).unwrap_or(2_000_000);
    // One goes to the round that is not counted.
    let max = (free as usize / 2).checked_div(per_round)?;
    Some(max.saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_words_takes_whole_words_and_no_commas() {
        for (words, is_it) in [
            ("tree", true),
            ("tar tree", true),
            ("tree, tar", true),
            ("tar.gz", false),
            ("tre", false),
        ] {
            assert_eq!(has_words("tree, tar", words), is_it, "{words}");
        }
    }
}
