//! A table per case, then sentences. All times are of one look-up.

use super::super::prelude::*;
use super::{
    Case, FIND, INTERNAL, INTERNAL_AA, MAP, NEVER, NEVER_BATCH, ON_CHANGE, ON_CHANGE_BATCH, OXC,
    OXC_ALONE, RAW, RAW_BATCH, RAW_EACH, RUST_NEVER, RUST_NEVER_BATCH, RUST_ON_CHANGE,
    RUST_ON_CHANGE_BATCH, WALK,
};
use crate::bench::scenarios::shared::idioms::beside_raw;

const NOTES: [&str; 2] = [
    "Node INTERNAL function: what Node itself calls; programs cannot, without the flag \
     --expose-internals.",
    "A batch is one call for all files. In it OnChange looks at each directory once, else at each for \
     every file again.",
];

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.title(&format!(
        "package-scope on {}: whether the nearest package.json of each file says `module`; {} rounds, a \
         fresh process for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        table(page, session, result);
    }
    page.failures(results);
    for note in NOTES {
        page.note(note);
    }
    for result in &results.cases {
        page.about(format!("package-scope, {}", result.case));
        sentences(page, session, result, results.rounds);
    }
}

/// Counts the time per file: passes differ in number.
fn view<'a>(session: &Session, result: &'a CaseResult<Case>) -> View<'a> {
    View::by(session.options.seed, result, |run, _| {
        Some(run.usage.wall_ns as f64 / run.files.max(1) as f64)
    })
}

fn table(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
    let case = result.case;
    let state = match (case.cold, &result.not_cold) {
        (true, Some(reason)) => format!("nothing remembered, the page cache warm: {reason}"),
        (true, None) if session.directories.profile().is_some() => {
            "nothing remembered, the page cache dropped".to_owned()
        }
        (true, None) => "nothing remembered, the page cache warm".to_owned(),
        (false, _) => "asked before by the same process".to_owned(),
    };
    page.heading(&format!(
        "{case}: {} files, {} directories to look into; {state}; {}",
        thousands(case.files as i64),
        thousands(case.directories as i64),
        session.disk_words()
    ));
    let view = view(session, result);
    let lines = view.labels().map(|(row, label)| {
        let of = &result.rows[row];
        let beside = |name: &str| {
            let baseline = view.find(of.runtime.name(), name).filter(|it| *it != row);
            text::ratio(baseline.and_then(|baseline| view.ratio(baseline, row)))
        };
        let is_node = of.runtime.is_node();
        vec![
            label.to_owned(),
            or_dash(view.median(row), text::duration),
            beside(if is_node { INTERNAL } else { OXC }),
            beside(MAP),
            view.distance_cell(row, raw(case, of)),
        ]
    });
    page.table(
        "medians|a file|x INTERNAL / oxc crate|x a Map|of raw",
        1,
        lines,
    );
}

/// Returns the system calls that the row has to make, if it does not believe what it knows.
fn raw(case: Case, row: &Row) -> &'static str {
    match (case.cold, row.way.style.is_bulk()) {
        (true, _) => RAW,
        (false, true) => RAW_BATCH,
        (false, false) => RAW_EACH,
    }
}

fn sentences(page: &mut Page, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = view(session, result);
    for node in &session.nodes {
        let name = node.runtime.name();
        view.noise(page, name, [INTERNAL, INTERNAL_AA], INTERNAL, rounds);
        for theirs in [INTERNAL, FIND, WALK, MAP] {
            let pairs = [NEVER, NEVER_BATCH, ON_CHANGE, ON_CHANGE_BATCH].map(|ours| (theirs, ours));
            view.costs(page, name, &format!("a file on {name}"), &pairs);
        }
        let words = format!("a file on {name}, one by one and all at once");
        view.costs(page, name, &words, &[(NEVER, NEVER_BATCH)]);
    }
    let ours = [
        RUST_NEVER,
        RUST_NEVER_BATCH,
        RUST_ON_CHANGE,
        RUST_ON_CHANGE_BATCH,
    ];
    for theirs in [OXC, OXC_ALONE] {
        let pairs = ours.map(|ours| (theirs, ours));
        view.costs(page, "Rust", "a file in Rust", &pairs);
    }
    for (raw, names) in BESIDE_RAW {
        let rows = view.labels().filter(|(row, _)| {
            let name = view.rows[*row].implementation.as_str();
            names.contains(&name)
        });
        beside_raw(page, &view, raw, " a file", rows);
    }
}

/// The rows that are compared with each row of raw system calls; the first is in cold cases only,
/// the others in warm ones.
const BESIDE_RAW: [(&str, &[&str]); 3] = [
    (
        RAW,
        &[
            RUST_NEVER,
            RUST_NEVER_BATCH,
            RUST_ON_CHANGE_BATCH,
            NEVER,
            NEVER_BATCH,
        ],
    ),
    (RAW_EACH, &[RUST_ON_CHANGE, ON_CHANGE]),
    (RAW_BATCH, &[RUST_ON_CHANGE_BATCH, ON_CHANGE_BATCH]),
];
