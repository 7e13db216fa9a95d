//! A table per case, one of delays, then sentences.

use super::super::prelude::*;
use super::Case;
use crate::bench::runtime::protocol::PROBE_US;
use crate::bench::scenarios::shared::{cache, idioms};
use crate::bench::stats::delay::{Delay, delay};

const NOTE: &str = "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; \
    rows in Rust are compared with the first Node's. Of raw: how many times as long as raw system \
    calls of one thread (where results are kept, into fresh memory; where not, into one buffer).";

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.line(&format!(
        "\nread-many on {}: files of ASCII read whole; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        let cache = cache::describe(result, result.case.cold);
        if result.case.delay {
            delays(page, session, result, &cache);
            continue;
        }
        let what = match result.case.kept {
            Some(data) => format!("all kept as {data}s, every byte looked at"),
            None => "whole processes that list the directory, read and keep nothing".to_owned(),
        };
        let heading = format!("{what}; {cache}");
        idioms::table(page, session, result, &heading, result.case.raw());
    }
    page.failures(results);
    page.note(NOTE);
    for result in &results.cases {
        page.about(format!("read-many, {}", result.case));
        if result.case.delay {
            said_of_delays(page, result);
        } else {
            idioms::sentences(page, session, result, results.rounds, result.case.raw());
        }
    }
}

/// Shows milliseconds by which the event loop turned late: of each run, and the worst of all runs.
fn delays(page: &mut Page, session: &Session, result: &CaseResult<Case>, cache: &str) {
    page.heading(&format!(
        "{}: how late the event loop turns while files are read; {cache}; {}",
        result.case,
        session.disk_words()
    ));
    let cell = |value, unit: f64| or_dash(value, |value| text::number(value / unit));
    let lines = result.rows.iter().enumerate().map(|(row, of)| {
        let late = |pick: fn(&Delay) -> f64| {
            let value = result.typical(row, |run| Some(pick(&delay(&run.gaps_us, PROBE_US)?)));
            cell(value, 1e3)
        };
        let wall = result.typical(row, |run| Some(run.usage.wall_ns as f64));
        let worst = result.max(row, |run| Some(delay(&run.gaps_us, PROBE_US)?.max));
        vec![
            of.label.clone(),
            cell(wall, 1e6),
            late(|delay| delay.p50),
            late(|delay| delay.p99),
            late(|delay| delay.max),
            cell(worst, 1e3),
        ]
    });
    page.table(
        "ms, medians over rounds|reading|late p50|p99|max|max of all rounds",
        1,
        lines,
    );
}

fn said_of_delays(page: &mut Page, result: &CaseResult<Case>) {
    let late = result.rows.iter().enumerate().filter_map(|(row, of)| {
        let max = result.typical(row, |run| Some(delay(&run.gaps_us, PROBE_US)?.max))?;
        Some(format!("{} {}", of.label, text::duration(max * 1e3)))
    });
    let late: Vec<String> = late.collect();
    page.say(format!(
        "while all is read, whatever else the event loop has to do waits at most: {} (medians over \
         rounds).",
        late.join(", ")
    ));
}
