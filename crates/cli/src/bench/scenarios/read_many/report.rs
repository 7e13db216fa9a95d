//! A table per case, one of delays, then sentences.

use super::super::prelude::*;
use super::case::{Case, Watch};
use crate::bench::runtime::protocol::PROBE_US;
use crate::stats::delay::{Delay, delay};

pub(super) const REPORT: Report<Case> = Report {
    what: "files of ASCII read whole",
    time: WALL,
    heading: |_, result| {
        let case = result.case;
        let what = match case.kept {
            _ if case.watch == Watch::EventLoop => {
                "how late the event loop turns while files are read".to_owned()
            }
            Some(data) if case.watch == Watch::Steady => {
                format!("one process reads all as {data}s again and again, and drops them")
            }
            Some(data) => format!("all kept as {data}s, every byte looked at"),
            None => "whole processes that list the directory, read and keep nothing".to_owned(),
        };
        format!("{what}; {}", cache::describe(result, case.cold))
    },
    table: |page, result, view| {
        if result.case.watch == Watch::EventLoop {
            delays(page, result, view);
        } else {
            idioms::table(page, view, result.case.raw());
        }
    },
    notes: |_| {
        vec![
            "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; rows in \
             Rust are compared with the first Node's. Of raw: how many times as long as raw system \
             calls of one thread (where results are kept, into fresh memory; where not, into one \
             buffer).",
        ]
    },
    sentences: |page, session, result, view| {
        if result.case.watch == Watch::EventLoop {
            said_of_delays(page, result);
        } else {
            idioms::sentences(page, session, view, result.case.raw());
        }
    },
};

/// Shows milliseconds by which the event loop turned late: of each run, and the worst of all runs.
fn delays(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let headings = "ms, medians over rounds|reading|late p50|p99|max|max of all rounds";
    let cell = |value, unit: f64| or_dash(value, |value| text::number(value / unit));
    view.table(page, headings, |row| {
        let late = |pick: fn(&Delay) -> f64| {
            let value = result.typical(row, |run| Some(pick(&delay(&run.gaps_us, PROBE_US)?)));
            cell(value, 1e3)
        };
        let worst = result.max(row, |run| Some(delay(&run.gaps_us, PROBE_US)?.max));
        vec![
            cell(view.median(row), 1e6),
            late(|delay| delay.p50),
            late(|delay| delay.p99),
            late(|delay| delay.max),
            cell(worst, 1e3),
        ]
    });
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
