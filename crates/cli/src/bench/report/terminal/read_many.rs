//! The scenario `read-many`: a table per case, one of delays, then sentences.

use super::many::{self, cache, typical};
use super::{Sentences, text};
use crate::bench::runtime::protocol::PROBE_US;
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::read_many::{Case, Results, floor};
use crate::bench::session::Session;
use crate::bench::stats::delay::{Delay, delay};
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let _ = writeln!(
        out,
        "\nread-many on {}: files of ASCII read whole; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    );
    for result in &results.cases {
        if result.case.delay {
            delays(out, session, result);
        } else {
            let what = match result.case.kept {
                Some(data) => format!("all kept as {data}s, every byte looked at"),
                None => "whole processes that list the directory, read and keep nothing".to_owned(),
            };
            let heading = format!("{what}; {}", cache(result, result.case.cold));
            many::table(out, session, result, &heading, floor(&result.case));
        }
    }
    many::failures(out, &results.cases);
    let note = "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; rows in Rust are compared with the \
                first Node's. Of floor: how many times as long as bare system calls of one thread (where results are kept, \
                into fresh memory; where not, into one buffer).";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    for result in &results.cases {
        said.about(format!("read-many, {}", result.case));
        if result.case.delay {
            said_of_delays(said, result);
        } else {
            many::sentences(said, session, result, results.rounds, floor(&result.case));
        }
    }
}

/// Milliseconds by which the event loop turned late: of each run, and the worst of all runs.
fn delays(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let title = format!(
        "{}: how late the event loop turns while files are read; {}; {}",
        result.case,
        cache(result, result.case.cold),
        session.disk_words()
    );
    let _ = writeln!(out, "\n{}", text::wrap("  ", &title, text::width()));
    let mut table = text::table(
        &[
            "ms, medians over rounds",
            "reading",
            "late p50",
            "p99",
            "max",
            "max of all rounds",
        ],
        1,
    );
    for (row, of) in result.rows.iter().enumerate() {
        let cell = |value: Option<f64>, unit| {
            value.map_or_else(|| "-".to_owned(), |value| text::number(value / unit))
        };
        let late = |pick: fn(&Delay) -> f64| {
            let value = typical(result, row, |run| {
                Some(pick(&delay(&run.gaps_us, PROBE_US)?))
            });
            cell(value, 1e3)
        };
        let wall = typical(result, row, |run| Some(run.usage.wall_ns as f64));
        table.add_row([
            of.label.clone(),
            cell(wall, 1e6),
            late(|delay| delay.p50),
            late(|delay| delay.p99),
            late(|delay| delay.max),
            cell(worst(result, row), 1e3),
        ]);
    }
    text::put(out, &table);
}

fn worst(result: &CaseResult<Case>, row: usize) -> Option<f64> {
    let runs = result.outcomes[row].runs.iter().flatten();
    runs.filter_map(|run| Some(delay(&run.gaps_us, PROBE_US)?.max))
        .max_by(f64::total_cmp)
}

fn said_of_delays(said: &mut Sentences, result: &CaseResult<Case>) {
    let late: Vec<String> = result
        .rows
        .iter()
        .enumerate()
        .filter_map(|(row, of)| {
            let max = typical(result, row, |run| Some(delay(&run.gaps_us, PROBE_US)?.max))?;
            Some(format!("{} {}", of.label, text::duration(max * 1e3)))
        })
        .collect();
    said.say(format!(
        "while all is read, whatever else the event loop has to do waits at most: {} (medians over rounds).",
        late.join(", ")
    ));
}
