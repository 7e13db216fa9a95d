//! A table for each Node, with a line for each function.

use super::super::prelude::*;
use super::{Case, NODE, SMALLFRY};
use crate::stats::interval::Interval;

/// Many calls at once pay if they are so many times as fast.
const PAYS: f64 = 1.2;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    let what = "functions of node:fs/promises for paths, without smallfry and with";
    page.title("calls", session, what, results.rounds);
    let runtimes = runtimes(results);
    for runtime in &runtimes {
        page.heading(&format!("Node {runtime}, µs a call"));
        let headings = "call|one: node:fs|smallfry|gain|at once: node:fs|smallfry|gain|pays";
        let calls = results.cases.chunk_by(|a, b| a.case.call == b.case.call);
        page.table(headings, calls.map(|cases| line(runtime, cases)));
    }
    page.failures(results);
    page.note(
        "A call pays if one that is awaited is no slower, and many at once are 1.2x as fast; \"unsure\" \
         if the intervals do not decide it. Others are node:fs's own with smallfry too: what they lose \
         is the price of a function before them, and noise.",
    );
    page.about("calls");
    for runtime in runtimes {
        let verdicts = calls(results).filter_map(|cases| verdict(&gains(runtime, cases)));
        let verdicts: Vec<Verdict> = verdicts.collect();
        let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
        if !verdicts.is_empty() {
            page.say(format!(
                "Node {runtime}: of {} calls that smallfry does, {} pay, {} do not, and {} are unsure.",
                verdicts.len(),
                count(Verdict::Pays),
                count(Verdict::Fails),
                count(Verdict::Unsure)
            ));
        }
    }
}

/// Returns the cases of each function.
fn calls(results: &Results<Case>) -> impl Iterator<Item = &[CaseResult<Case>]> {
    let native = |cases: &&[CaseResult<Case>]| cases[0].case.is_native;
    results
        .cases
        .chunk_by(|a, b| a.case.call == b.case.call)
        .filter(native)
}

/// Returns how many times as fast one call is with smallfry, and many at once.
fn gains(runtime: &str, cases: &[CaseResult<Case>]) -> [Option<Interval>; 2] {
    [false, true].map(|at_once| {
        let found = cases.iter().find(|result| result.case.at_once == at_once)?;
        let view = View::by(found, WALL);
        view.ratio(view.find(runtime, NODE)?, view.find(runtime, SMALLFRY)?)
    })
}

/// Tells whether a call pays.
#[derive(Clone, Copy, Display, PartialEq, Eq)]
enum Verdict {
    #[display("yes")]
    Pays,
    #[display("NO")]
    Fails,
    #[display("unsure")]
    Unsure,
}

/// Returns what the intervals say; `None` if one of both was not measured.
fn verdict([one, many]: &[Option<Interval>; 2]) -> Option<Verdict> {
    let (one, many) = (one.as_ref()?, many.as_ref()?);
    Some(if one.high < 1.0 || many.high < PAYS {
        Verdict::Fails
    } else if many.low >= PAYS && one.estimate >= 1.0 {
        Verdict::Pays
    } else {
        Verdict::Unsure
    })
}

/// Returns the names of the runtimes.
fn runtimes(results: &Results<Case>) -> Vec<&str> {
    let mut names = Vec::new();
    for row in results.cases.iter().flat_map(|result| &result.rows) {
        let name = row.runtime.name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn line(runtime: &str, cases: &[CaseResult<Case>]) -> Vec<String> {
    let Some(first) = cases.first() else {
        return Vec::new();
    };
    let mut cells = vec![first.case.call.to_owned()];
    let gains = gains(runtime, cases);
    for (at_once, gain) in [false, true].into_iter().zip(gains) {
        let found = cases.iter().find(|result| result.case.at_once == at_once);
        let median = |name| {
            let result = found?;
            let view = View::by(result, WALL);
            Some(view.median(view.find(runtime, name)?)? / 1e3 / result.case.count as f64)
        };
        cells.extend([NODE, SMALLFRY].map(|name| or_dash(median(name), |us| format!("{us:.1}"))));
        cells.push(text::ratio(gain));
    }
    cells.push(if first.case.is_native {
        or_dash(verdict(&gains), |verdict| verdict.to_string())
    } else {
        "Node's own".to_owned()
    });
    cells
}
