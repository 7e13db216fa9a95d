//! A table of rows per case, then for each row the percentiles in the form in which the JVM's were
//! published, then sentences.

use super::super::prelude::*;
use super::{
    ATOMIC, Case, DATA, FILE_UNSYNCED, FULL, JVM_DATA, JVM_FULL, JVM_UNSYNCED, Kind, Level,
    NODE_APART, NODE_FLUSH, RAW_DATA, RAW_FILE, RAW_FULL, RAW_REPLACED, REPLACED, RUST_DATA,
    RUST_FULL, RUST_REPLACED, STD, STD_AA, STREAM, kind_of, primitive,
};
use crate::bench::runtime::strace::Flushes;
use crate::bench::stats::bootstrap::Interval;
use crate::bench::stats::percentiles::{Percentiles, median};
use std::fmt::Write as _;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.title(&format!(
        "fsync on {}: one file written again and again, each write timed alone, with and without a \
         flush; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        rows(page, session, result);
    }
    page.failures(results);
    let seen = if results.cases.iter().any(CaseResult::was_watched) {
        "system calls that strace has seen in a run that was not timed; more than one a write is \
             said"
    } else {
        "the calls as named by documentation, since nothing watched them"
    };
    page.note(&format!(
        "Flushed by: {seen}. x unsynced: how many times as long as the same without a flush; of raw: \
         as long as raw system calls that promise the same; both of medians, the first with its 95 % \
         interval."
    ));
    percentiles(page, results);
    for result in &results.cases {
        page.about(format!("fsync, {}", result.case));
        sentences(page, session, result, results.rounds);
    }
}

/// Counts the median of a run, which one slow write does not move.
fn view<'a>(session: &Session, result: &'a CaseResult<Case>) -> View<'a> {
    View::by(session.options.seed, result, |run, _| {
        median(run.samples_ns.iter().map(|ns| *ns as f64))
    })
}

fn rows(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
    let view = view(session, result);
    page.line(&format!("\n  {}; {}", result.case, session.disk_words()));
    let lines = view.labels().filter_map(|(row, label)| {
        let kind = kind_of(&result.rows[row])?;
        let raw = raw_of(kind).filter(|raw| *raw != kind.name);
        let distance = raw.map(|raw| view.distance_cell(row, raw));
        Some(vec![
            label.to_owned(),
            flushed_by(result, row, kind),
            or_dash(view.median(row), |ns| format!("{:.3}", ns / 1e6)),
            text::ratio(unsynced(&view, row, kind)),
            distance.unwrap_or_else(|| "-".to_owned()),
        ])
    });
    page.table(
        "ms a write, medians|flushed by|median|x unsynced (95 %)|of raw",
        2,
        lines,
    );
}

/// Returns how many times as long as the same row without flushing it takes.
fn unsynced(view: &View, row: usize, kind: &Kind) -> Option<Interval> {
    let runtime = view.rows[row].runtime.name();
    view.ratio(row, view.find(runtime, kind.unsynced()?)?)
}

/// Returns the raw system calls that promise what the row does.
fn raw_of(kind: &Kind) -> Option<&'static str> {
    match (kind.level, kind.replace) {
        (Level::Full, true) => Some(RAW_REPLACED),
        // No program should replace a file and forget its directory.
        (Level::None, _) | (_, true) => None,
        (Level::Data, false) => Some(RAW_DATA),
        (Level::File, false) => Some(RAW_FILE),
        (Level::Full, false) => Some(RAW_FULL),
    }
}

/// Tells what was seen to flush; where nothing watched, what should.
fn flushed_by(result: &CaseResult<Case>, row: usize, kind: &Kind) -> String {
    match result.outcomes[row].flushes {
        Some(flushes) => calls(flushes, result.case.writes),
        None => primitive(kind).to_owned(),
    }
}

fn calls(flushes: Flushes, writes: usize) -> String {
    let all = [
        (flushes.fdatasync, "fdatasync"),
        (flushes.fsync, "fsync"),
        (flushes.fsync_directory, "fsync of directory"),
        (flushes.syncfs, "syncfs"),
    ];
    let seen = all.into_iter().filter(|(count, _)| *count > 0);
    let parts = seen.map(|(count, name)| {
        if count == writes {
            name.to_owned()
        } else {
            format!("{:.1} {name}", count as f64 / writes as f64)
        }
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(" + ")
    }
}

/// Shows for each row all lengths side by side, two columns each: whole milliseconds (of what is
/// not flushed microseconds), and exact milliseconds.
fn percentiles(page: &mut Page, results: &Results<Case>) {
    let Some(first) = results.cases.first() else {
        return;
    };
    for (row, of) in first.rows.iter().enumerate() {
        let Some(kind) = kind_of(of) else { continue };
        let cases = results.cases.iter();
        let found = cases.map(|result| {
            let runs = result.outcomes[row].done();
            Percentiles::of(runs.flat_map(|run| run.samples_ns.iter().copied()), 1)
        });
        let found: Vec<Option<Percentiles>> = found.collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let (unit, ns) = match kind.level {
            Level::None => ("µs", 1e3),
            _ => ("ms", 1e6),
        };
        let by = flushed_by(first, row, kind);
        page.line(&format!("\n  {}, flushed by {by}", of.label));
        let mut headings = "characters".to_owned();
        for result in &results.cases {
            let characters = thousands(result.case.characters as i64);
            let _ = write!(headings, "|{characters}, {unit}|exact ms");
        }
        let line = |(name, of): (&str, fn(&Percentiles) -> f64)| {
            let mut line = vec![name.to_owned()];
            for found in &found {
                let value = found.as_ref().map(of);
                line.push(or_dash(value, |value| thousands((value / ns) as i64)));
                line.push(or_dash(value, |value| format!("{:.6}", value / 1e6)));
            }
            line
        };
        let mut iterations = vec!["Iterations".to_owned()];
        for found in &found {
            let count = found.as_ref().map_or(0, |found| found.iterations);
            iterations.extend([thousands(count as i64), String::new()]);
        }
        let lines = Percentiles::TABLE.map(line).into_iter().chain([iterations]);
        page.table(&headings, 1, lines);
    }
}

fn sentences(page: &mut Page, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = view(session, result);
    view.noise(page, "Rust", [STD, STD_AA], "std with fsync", rounds);
    let names = [STD, RUST_DATA, RUST_FULL, RUST_REPLACED];
    price(page, result, &view, "Rust", &names);
    view.costs(page, "Rust", "in Rust", &[(STD, RUST_DATA)]);
    for pair in [
        (RAW_DATA, RUST_DATA),
        (RAW_FULL, RUST_FULL),
        (RAW_REPLACED, RUST_REPLACED),
    ] {
        view.costs(page, "Rust", "beside raw system calls", &[pair]);
    }
    for node in &session.nodes {
        let name = node.runtime.name();
        let names = [NODE_FLUSH, DATA, FULL, REPLACED];
        price(page, result, &view, name, &names);
        for pair in [(NODE_FLUSH, DATA), (NODE_APART, DATA), (ATOMIC, REPLACED)] {
            view.costs(page, name, &format!("on {name}"), &[pair]);
        }
    }
    if let Some(jvm) = &session.jvm {
        let name = jvm.name();
        price(page, result, &view, name, &[STREAM, JVM_DATA, JVM_FULL]);
        for pair in [(STREAM, JVM_DATA), (FILE_UNSYNCED, JVM_UNSYNCED)] {
            view.costs(page, name, &format!("on {name}"), &[pair]);
        }
    }
    broken_promises(page, result);
}

/// Says what surviving costs, by row.
fn price(page: &mut Page, result: &CaseResult<Case>, view: &View, runtime: &str, names: &[&str]) {
    let words = names.iter().filter_map(|name| {
        let row = view.find(runtime, name)?;
        let kind = kind_of(&view.rows[row])?;
        let synced = view.median(row)?;
        let plain = view.median(view.find(runtime, kind.unsynced()?)?)?;
        Some(format!(
            "{name} ({}) {} instead of {}, {}x",
            flushed_by(result, row, kind),
            text::duration(synced),
            text::duration(plain),
            text::number(synced / plain)
        ))
    });
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let words = words.join("; ");
        page.say(format!("what surviving costs, {runtime}: {words}."));
    }
}

/// Warns of a row that was asked to flush, and was not seen to.
fn broken_promises(page: &mut Page, result: &CaseResult<Case>) {
    for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
        let promises = kind_of(row).is_some_and(|kind| kind.level != Level::None);
        let is_too_few = |flushes: Flushes| flushes.all() < result.case.writes;
        if promises && outcome.flushes.is_some_and(is_too_few) {
            page.warn(format!(
                "{} was asked to flush every write and did NOT: its figures are those of something \
                 else.",
                row.label
            ));
        }
    }
}
