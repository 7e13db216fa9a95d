//! Runs a scenario: rounds until the budget is spent, each run in a process of its own.

use super::scenario::{Fault, Scenario, Turn};
use crate::bench::results::{CaseResult, Results};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Threads};
use crate::bench::runtime::strace::Strace;
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;
use crate::failure::Failure;
use crate::host;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::{Duration, Instant};

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
    let (left_out, first) = left_out;
    drop_left_out(session, S::FACTS.name, &mut results, &left_out, first);
    scenario.finish(&mut results);
    Ok(results)
}

/// The cases and the rows for which there is no time.
#[derive(Default)]
struct LeftOut {
    cases: BTreeSet<usize>,
    /// Rows of the first case, by their index.
    rows: BTreeSet<usize>,
}

impl LeftOut {
    fn has(&self, (case, row): (usize, usize), first: usize) -> bool {
        self.cases.contains(&case) || case == first && self.rows.contains(&row)
    }
}

/// Drops what was left out, and says what adds it.
fn drop_left_out<C: Display>(
    session: &Session,
    name: &str,
    results: &mut Results<C>,
    left_out: &LeftOut,
    first: usize,
) {
    let say = |count: usize, of: usize, what: &str, option: &str, example: &str| {
        session.leave_out(format!(
            "{count} of {of} {what} left out, which take too long here: smallfry bench {name} \
             {option} {:?}, or --all for all",
            example.replace(',', "")
        ));
    };
    if let Some(row) = left_out.rows.first() {
        let CaseResult { rows, outcomes, .. } = &mut results.cases[first];
        say(
            left_out.rows.len(),
            rows.len(),
            "rows",
            "--rows",
            rows[*row].label.split(',').next().unwrap_or_default(),
        );
        retain(rows, &left_out.rows);
        retain(outcomes, &left_out.rows);
    }
    if let Some(case) = left_out.cases.first() {
        let example = results.cases[*case].case.to_string();
        let of = results.cases.len();
        say(left_out.cases.len(), of, "cases", "--cells", &example);
        retain(&mut results.cases, &left_out.cases);
    }
}

/// Removes the items with these indices.
fn retain<T>(items: &mut Vec<T>, without: &BTreeSet<usize>) {
    let mut index = 0..;
    items.retain(|_| index.next().is_none_or(|index| !without.contains(&index)));
}

/// Returns the last cases, until the others have room in a round. Runs that strace watches do not
/// show how long runs are that count.
fn too_long(
    mut times: BTreeMap<usize, Duration>,
    first: usize,
    room: Option<Duration>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let own = times.remove(&first).unwrap_or_default();
    let Some(mut room) = room.map(|room| room.saturating_sub(own)) else {
        return found;
    };
    for (case, time) in times {
        if found.is_empty() && time <= room {
            room -= time;
        } else {
            found.insert(case);
        }
    }
    found
}

/// Returns the slowest rows, until they took so much time, of those that are neither a baseline nor
/// smallfry's as programs use it.
fn slowest(rows: &[Row], mut times: Vec<(usize, Duration)>, excess: Duration) -> BTreeSet<usize> {
    let is_baseline = |index: usize| {
        let row = &rows[index];
        let is_alike = |other: &Row| other.runtime.name() == row.runtime.name();
        let name = &row.implementation;
        let double = format!("{name} A/A");
        name.ends_with(" A/A")
            || rows
                .iter()
                .any(|it| is_alike(it) && it.implementation == double)
            || rows.iter().position(is_alike) == Some(index)
    };
    let is_ours = |row: &Row| {
        row.launch.functions == Functions::Smallfry && matches!(row.way.threads, Threads::Auto)
    };
    times.retain(|(row, _)| !is_ours(&rows[*row]) && !is_baseline(*row));
    times.sort_by_key(|(_, time)| Reverse(*time));
    let mut saved = Duration::ZERO;
    let enough = |(_, time): &(usize, Duration)| {
        let goes_on = saved < excess;
        saved += *time;
        goes_on
    };
    let found = times.into_iter().take_while(enough);
    found.map(|(row, _)| row).collect()
}

/// Runs rounds until the budget is spent, after one (`None`) that is not counted; in each, every
/// row of every case once, in random order within its group. Returns what was left out, because that
/// first round shows that there is no time for it, and the first case.
fn measure<S: Scenario>(
    session: &mut Session,
    scenario: &mut S,
    results: &mut Results<S::Case>,
    schedule: &mut Schedule,
    strace: Option<&Strace>,
) -> Result<(LeftOut, usize), Failure> {
    let mut places = Vec::new();
    for (index, result) in results.cases.iter().enumerate() {
        places.extend((0..result.rows.len()).map(|row| (index, row)));
    }
    let max_rounds = max_rounds::<S>(session, results);
    let mut left_out = LeftOut::default();
    let mut first = 0;
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
        if round.is_none() {
            first = places.first().map_or(0, |(case, _)| *case);
        }
        let mut begun = first;
        let mut times = Vec::new();
        let mut case_times = BTreeMap::<usize, Duration>::new();
        for (done, &(case, row)) in places.iter().enumerate() {
            count += 1;
            if round.is_none() && case != begun {
                if begun == first && left_out.cases.is_empty() {
                    let rows = &results.cases[first].rows;
                    left_out.rows = slowest(rows, times.clone(), schedule.excess());
                }
                if !left_out.rows.is_empty() || !schedule.excess().is_zero() {
                    left_out.cases.insert(case);
                    continue;
                }
                begun = case;
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
            let took = turn_started.elapsed();
            if round.is_none() && case == first {
                times.push((row, took));
            }
            *case_times.entry(case).or_default() += took;
        }
        if round.is_none() && left_out.cases.is_empty() && begun == first {
            left_out.rows = slowest(&results.cases[first].rows, times, schedule.excess());
        }
        if round == Some(0) {
            left_out
                .cases
                .extend(too_long(case_times, first, schedule.room()));
        }
        places.retain(|place| !left_out.has(*place, first));
        results.rounds += usize::from(round.is_some());
        let full = max_rounds.is_some_and(|max| results.rounds >= max);
        round = schedule.next_round().filter(|_| !full);
        if round.is_none() {
            return Ok((left_out, first));
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
