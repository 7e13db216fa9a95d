//! The scenario `sync`: a table of rows per case, then for each row the percentiles in the form in which the JVM's were published,
//! then sentences.

use super::many::failures;
use super::runs::{Runs, View};
use super::{Sentences, text};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Level, Usage};
use crate::bench::runtime::strace::Flushes;
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::sync::{
    ATOMIC, Case, DATA, FILE_UNSYNCED, FLOOR_DATA, FLOOR_FILE, FLOOR_FULL, FLOOR_REPLACED, FULL,
    JVM_DATA, JVM_FULL, JVM_UNSYNCED, Kind, NODE_APART, NODE_FLUSH, REPLACED, RUST_DATA, RUST_FULL,
    RUST_REPLACED, Results, STD, STD_AGAIN, STREAM, kind_of, middle, primitive,
};
use crate::bench::session::Session;
use crate::bench::stats::percentiles::Percentiles;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let title = format!(
        "sync on {}: one file written again and again, each write timed alone, with and without a flush; {} rounds, a fresh process \
         for every run",
        session.disk_words(),
        results.rounds
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &title, text::width()));
    for result in &results.cases {
        rows(out, session, result);
    }
    failures(out, &results.cases);
    let watched = results
        .cases
        .iter()
        .any(|case| case.outcomes.iter().any(|row| row.flushes.is_some()));
    let seen = if watched {
        "system calls that strace has seen in a run that was not timed; more than one a write is said"
    } else {
        "the calls as named by documentation, since nothing watched them"
    };
    let note = format!(
        "Flushed by: {seen}. x unsynced: how many times as long as the same without a flush; of floor: as long as bare system \
         calls that promise the same; both of medians, the first with its 95 % interval."
    );
    let _ = writeln!(out, "{}", text::wrap("  ", &note, text::width()));
    percentiles(out, results);
    for result in &results.cases {
        said.about(format!("sync, {}", result.case));
        sentences(said, session, result, results.rounds);
    }
}

/// Of each round the median: one slow write does not move it.
struct Middles<'a>(&'a CaseResult<Case>);

impl Runs for Middles<'_> {
    type Part = ();

    fn rows(&self) -> &[Row] {
        &self.0.rows
    }

    fn times(&self, row: usize, (): ()) -> Vec<Option<f64>> {
        let runs = self.0.outcomes[row].runs.iter();
        runs.map(|run| middle(run.as_ref()?)).collect()
    }

    fn usages(&self, row: usize, (): ()) -> Vec<Usage> {
        let runs = self.0.outcomes[row].runs.iter().flatten();
        runs.map(|run| run.usage).collect()
    }
}

fn rows(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let middles = Middles(result);
    let view = View {
        results: &middles,
        seed: session.arguments.seed,
    };
    let title = format!("{}; {}", result.case, session.disk_words());
    let _ = writeln!(out, "\n  {title}");
    let mut table = text::table(
        &[
            "ms a write, medians",
            "flushed by",
            "median",
            "x unsynced (95 %)",
            "of floor",
        ],
        2,
    );
    for (row, label) in view.labels() {
        let Some(kind) = kind_of(&result.rows[row]) else {
            continue;
        };
        let floor = floor_of(kind).filter(|floor| *floor != kind.name);
        table.add_row([
            label.to_owned(),
            flushed_by(result, row, kind),
            exact(view.median(row, ())),
            text::ratio(unsynced(&view, row, kind)),
            floor.map_or_else(
                || "-".to_owned(),
                |floor| view.distance_cell(row, (), floor),
            ),
        ]);
    }
    text::put(out, &table);
}

fn exact(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.3}", ns / 1e6))
}

/// How many times as long as the same row without flushing.
fn unsynced(
    view: &View<Middles>,
    row: usize,
    kind: &Kind,
) -> Option<crate::bench::stats::bootstrap::Interval> {
    let runtime = view.results.rows()[row].runtime.name();
    view.ratio(row, view.find(runtime, kind.unsynced?)?, ())
}

/// Bare system calls that promise what the row does.
fn floor_of(kind: &Kind) -> Option<&'static str> {
    Some(match (kind.level, kind.replace) {
        (Level::Full, true) => FLOOR_REPLACED,
        // Nobody should replace a file and forget its directory.
        (Level::None, _) | (_, true) => return None,
        (Level::Data, false) => FLOOR_DATA,
        (Level::File, false) => FLOOR_FILE,
        (Level::Full, false) => FLOOR_FULL,
    })
}

/// What was seen to flush; where nobody looked, what should.
fn flushed_by(result: &CaseResult<Case>, row: usize, kind: &Kind) -> String {
    result.outcomes[row].flushes.map_or_else(
        || primitive(kind).to_owned(),
        |flushes| calls(flushes, result.case.writes),
    )
}

fn calls(flushes: Flushes, writes: usize) -> String {
    let each = |count: usize, name: &str| match count {
        0 => None,
        count if count == writes => Some(name.to_owned()),
        count => Some(format!("{:.1} {name}", count as f64 / writes as f64)),
    };
    let parts: Vec<String> = [
        each(flushes.fdatasync, "fdatasync"),
        each(flushes.fsync, "fsync"),
        each(flushes.fsync_directory, "fsync of directory"),
        each(flushes.syncfs, "syncfs"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(" + ")
    }
}

/// A percentile by its name.
type Line = (&'static str, fn(&Percentiles) -> f64);

/// For each row all lengths side by side, two columns each: whole milliseconds (of what is not flushed microseconds), and exact
/// milliseconds.
fn percentiles(out: &mut String, results: &Results) {
    let Some(first) = results.cases.first() else {
        return;
    };
    for (row, of) in first.rows.iter().enumerate() {
        let Some(kind) = kind_of(of) else { continue };
        let found: Vec<Option<Percentiles>> = results
            .cases
            .iter()
            .map(|result| {
                let runs = result.outcomes[row].runs.iter().flatten();
                Percentiles::of(runs.flat_map(|run| run.samples_ns.iter().copied()), 1)
            })
            .collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let (unit, ns) = if kind.level == Level::None {
            ("µs", 1e3)
        } else {
            ("ms", 1e6)
        };
        let by = flushed_by(first, row, kind);
        let _ = writeln!(out, "\n  {}, flushed by {by}", of.label);
        let mut headings = vec!["characters".to_owned()];
        for result in &results.cases {
            let characters = text::thousands(result.case.characters as i64);
            headings.extend([format!("{characters}, {unit}"), "exact ms".to_owned()]);
        }
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut table = text::table(&headings, 1);
        let lines: [Line; 8] = [
            ("Min", |found| found.min),
            ("P50", |found| found.p50),
            ("P90", |found| found.p90),
            ("P95", |found| found.p95),
            ("P99", |found| found.p99),
            ("P99.9", |found| found.p999),
            ("Max", |found| found.max),
            ("Total", |found| found.total),
        ];
        for (name, of) in lines {
            let mut line = vec![name.to_owned()];
            for found in &found {
                let value = found.as_ref().map(of);
                line.push(value.map_or_else(
                    || "-".to_owned(),
                    |value| text::thousands((value / ns).floor() as i64),
                ));
                line.push(value.map_or_else(|| "-".to_owned(), |value| exactly(value / 1e6)));
            }
            table.add_row(line);
        }
        let mut line = vec!["Iterations".to_owned()];
        for found in &found {
            let count = found.as_ref().map_or(0, |found| found.iterations);
            line.extend([text::thousands(count as i64), String::new()]);
        }
        table.add_row(line);
        text::put(out, &table);
    }
}

/// As far as the clock tells.
fn exactly(millis: f64) -> String {
    format!("{millis:.6}")
}

fn sentences(said: &mut Sentences, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let middles = Middles(result);
    let view = View {
        results: &middles,
        seed: session.arguments.seed,
    };
    if let (Some(baseline), Some(again)) = (view.find("Rust", STD), view.find("Rust", STD_AGAIN)) {
        said.noise("std with fsync", view.ratio(baseline, again, ()), rounds);
    }
    price(
        said,
        &view,
        "Rust",
        &[STD, RUST_DATA, RUST_FULL, RUST_REPLACED],
    );
    view.costs(said, "Rust", &[((), "in Rust")], &[(STD, RUST_DATA)]);
    for pair in [
        (FLOOR_DATA, RUST_DATA),
        (FLOOR_FULL, RUST_FULL),
        (FLOOR_REPLACED, RUST_REPLACED),
    ] {
        view.costs(said, "Rust", &[((), "beside the floor")], &[pair]);
    }
    for node in &session.nodes {
        let name = node.runtime.name();
        price(said, &view, name, &[NODE_FLUSH, DATA, FULL, REPLACED]);
        let words = format!("on {name}");
        for pair in [(NODE_FLUSH, DATA), (NODE_APART, DATA), (ATOMIC, REPLACED)] {
            view.costs(said, name, &[((), &words)], &[pair]);
        }
    }
    if let Some(jvm) = &session.jvm {
        let name = jvm.name();
        price(said, &view, name, &[STREAM, JVM_DATA, JVM_FULL]);
        let words = format!("on {name}");
        for pair in [(STREAM, JVM_DATA), (FILE_UNSYNCED, JVM_UNSYNCED)] {
            view.costs(said, name, &[((), &words)], &[pair]);
        }
    }
    broken_promises(said, result);
}

/// What surviving costs, by row.
fn price(said: &mut Sentences, view: &View<Middles>, runtime: &str, names: &[&str]) {
    let words: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let row = view.find(runtime, name)?;
            let kind = kind_of(&view.results.rows()[row])?;
            let synced = view.median(row, ())?;
            let plain = view.median(view.find(runtime, kind.unsynced?)?, ())?;
            let by = flushed_by(view.results.0, row, kind);
            Some(format!(
                "{name} ({by}) {} instead of {}, {}x",
                text::duration(synced),
                text::duration(plain),
                text::number(synced / plain)
            ))
        })
        .collect();
    if !words.is_empty() {
        said.say(format!(
            "what surviving costs, {runtime}: {}.",
            words.join("; ")
        ));
    }
}

/// A row that says it flushes, and was not seen to.
fn broken_promises(said: &mut Sentences, result: &CaseResult<Case>) {
    for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
        let promises = kind_of(row).is_some_and(|kind| kind.level != Level::None);
        if promises
            && outcome
                .flushes
                .is_some_and(|flushes| flushes.all() < result.case.writes)
        {
            said.warn(format!(
                "{} was asked to flush every write and did NOT: its figures are those of something else.",
                row.label
            ));
        }
    }
}
