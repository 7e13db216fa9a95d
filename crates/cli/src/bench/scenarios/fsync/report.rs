//! A table of rows per case, then sentences, and for each row the percentiles in the form in which
//! the JVM's were published.

use super::super::prelude::*;
use super::case::{Case, Level, RAW_MOUNT_ALONE, Write, primitive, write_of};
use crate::bench::runtime::strace::Flushes;

pub(super) const REPORT: Report<Case> = Report {
    what: "one file written again and again, each write timed alone, with and without a flush",
    // The median of a run, which one slow write does not move.
    time: |run, _| median(run.samples_ns.iter().map(|ns| *ns as f64)),
    heading: |_, result| format!("{} writes in a round", result.case.writes),
    table,
    notes: |results| {
        let seen = results.cases.iter().any(CaseResult::was_watched);
        vec![
            if seen {
                "Flushed by: system calls that strace has seen in a run that was not timed; more than \
                 one a write is said."
            } else {
                "Flushed by: the calls as named by documentation, since nothing watched them."
            },
            "x unsynced: how many times as long as the same without a flush; of raw: as long as raw \
             system calls that promise the same; both of medians, the first with its 95 % interval.",
        ]
    },
    sentences: |page, _, result, view| {
        view.noise(page);
        price(page, result, view);
        view.compare(page, place, &COMPARED);
        broken_promises(page, result);
    },
};

const COMPARED: [&str; 9] = [
    "Rust std, fsync|smallfry in Rust, Data",
    "raw system calls, fdatasync|smallfry in Rust, Data",
    "raw system calls, fsync and directory|smallfry in Rust, Full",
    "raw system calls, replaced|smallfry in Rust, replaced",
    "Node writeFileSync, flush|smallfry data",
    "Node open, write, fsync, close|smallfry data",
    "write-file-atomic, no directory flush|smallfry replaced",
    "Java FileOutputStream, fd.sync|smallfry in the JVM, Data",
    "Kotlin File.writeText, unsynced|smallfry in the JVM, unsynced",
];

fn table(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let headings = "ms a write, medians|<flushed by|median|x unsynced (95 %)|of raw";
    view.table(page, headings, |row| {
        let write = write_of(&result.rows[row]);
        let unsynced = unsynced(view, row, &write);
        let raw = raw_of(&write).filter(|raw| *raw != write.name);
        vec![
            flushed_by(result, row),
            or_dash(view.median(row), |ns| format!("{:.3}", ns / 1e6)),
            text::ratio(unsynced.and_then(|plain| view.ratio(row, plain))),
            view.distance_cell(row, raw.unwrap_or_default()),
        ]
    });
}

/// Finds the row that does the same without flushing.
fn unsynced(view: &View, row: usize, write: &Write) -> Option<usize> {
    let runtime = view.rows[row].runtime.name();
    // That one goes another way than the row that it would be compared with.
    if write.name == RAW_MOUNT_ALONE {
        return None;
    }
    view.rows.iter().position(|other| {
        let plain = write_of(other);
        let is_same = (plain.functions, plain.replace) == (write.functions, write.replace);
        let is_plain = plain.level == Level::None && write.level != Level::None;
        is_same && is_plain && other.runtime.name() == runtime
    })
}

/// Returns the raw system calls that promise what the row does.
fn raw_of(write: &Write) -> Option<&'static str> {
    match (write.level, write.replace) {
        (Level::Full, true) => Some("raw system calls, replaced"),
        // No program should replace a file and forget its directory.
        (Level::None, _) | (_, true) => None,
        (Level::Data, false) => Some("raw system calls, fdatasync"),
        (Level::File, false) => Some("raw system calls, fsync"),
        (Level::Full, false) => Some("raw system calls, fsync and directory"),
    }
}

/// Tells what was seen to flush; where nothing watched, what should.
fn flushed_by(result: &CaseResult<Case>, row: usize) -> String {
    match result.outcomes[row].flushes {
        Some(flushes) => calls(flushes, result.case.writes),
        None => primitive(write_of(&result.rows[row]).level).to_owned(),
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
    let parts = seen.map(|(count, name)| match count as f64 / writes as f64 {
        _ if count == writes => name.to_owned(),
        many => format!("{many:.1} {name}"),
    });
    let parts = parts.reduce(|all, part| format!("{all} + {part}"));
    parts.unwrap_or_else(|| "nothing".to_owned())
}

/// Shows for each row all lengths side by side, two columns each: whole milliseconds (of what is
/// not flushed microseconds), and exact milliseconds.
pub(super) fn percentiles(page: &mut Page, results: &Results<Case>) {
    let Some(first) = results.cases.first() else {
        return;
    };
    for (row, of) in first.rows.iter().enumerate() {
        let found = results.cases.iter().map(|result| {
            let runs = result.outcomes[row].done();
            Percentiles::of(runs.flat_map(|run| run.samples_ns.iter().copied()), 1)
        });
        let found: Vec<Option<Percentiles>> = found.collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let is_plain = write_of(of).level == Level::None;
        let (unit, ns) = if is_plain { ("µs", 1e3) } else { ("ms", 1e6) };
        let by = flushed_by(first, row);
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
        page.table(&headings, lines);
    }
}

/// Says what surviving costs, by row.
fn price(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    for (row, of) in view.rows.iter().enumerate() {
        let plain = unsynced(view, row, &write_of(of)).and_then(|plain| view.median(plain));
        if let Some((synced, plain)) = view.median(row).zip(plain) {
            page.say(format!(
                "what surviving costs, {}: {} ({}) {} instead of {}, {}x.",
                of.runtime.name(),
                of.implementation,
                flushed_by(result, row),
                text::duration(synced),
                text::duration(plain),
                text::number(synced / plain)
            ));
        }
    }
}

/// Warns of a row that was asked to flush, and was not seen to.
fn broken_promises(page: &mut Page, result: &CaseResult<Case>) {
    for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
        let promises = write_of(row).level != Level::None;
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
