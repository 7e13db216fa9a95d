//! A table per case, then sentences. All times are of one look-up.

use super::super::prelude::*;
use super::case::{Case, INTERNAL, MAP, OXC, RAW_BATCH, RAW_EACH, RAW_READS};

pub(super) const REPORT: Report<Case> = Report {
    what: "whether the nearest package.json of each file says `module`",
    // Passes differ in number.
    time: |run, _| Some(run.usage.wall_ns as f64 / run.files.max(1) as f64),
    heading: |session, result| {
        let case = result.case;
        let state = match (case.cold, &result.not_cold) {
            (true, Some(reason)) => format!("nothing remembered, the page cache warm: {reason}"),
            (true, None) if session.directories.profile().is_some() => {
                "nothing remembered, the page cache dropped".to_owned()
            }
            (true, None) => "nothing remembered, the page cache warm".to_owned(),
            (false, _) => "asked before by the same process".to_owned(),
        };
        let [files, directories] = [case.files, case.directories].map(|it| thousands(it as i64));
        format!("{files} files, {directories} directories to look into; {state}")
    },
    table,
    notes: |_| {
        vec![
            "Node INTERNAL function: what Node itself calls; programs cannot, without the flag \
             --expose-internals.",
            "A batch is one call for all files. In it OnChange looks at each directory once, else at \
             each for every file again.",
        ]
    },
    sentences: |page, _, _, view| {
        view.noise(page);
        let words = |row: &Row| format!("a file {}", place(row));
        view.compare(
            page,
            words,
            &THEIRS.map(|theirs| format!("{theirs}|{OURS}")),
        );
        view.compare(page, words, &COMPARED);
    },
};

const THEIRS: [&str; 4] = [INTERNAL, "Node findPackageJSON", "JavaScript, walking", MAP];
const OURS: &str =
    "smallfry Never|smallfry Never, batch|smallfry OnChange|smallfry OnChange, batch";

/// The last ones compare those that look again with the calls that this takes.
const COMPARED: [&str; 6] = [
    "smallfry Never|smallfry Never, batch",
    "oxc_resolver crate|smallfry in Rust, Never|smallfry in Rust, Never, batch|smallfry in Rust, OnChange|smallfry in Rust, OnChange, batch",
    "oxc_resolver crate, no stats|smallfry in Rust, Never|smallfry in Rust, Never, batch|smallfry in Rust, OnChange|smallfry in Rust, OnChange, batch",
    "raw system calls, opens and reads|smallfry in Rust, Never|smallfry in Rust, Never, batch|smallfry in Rust, OnChange, batch|\
     smallfry Never|smallfry Never, batch",
    "raw system calls, stats of each file|smallfry in Rust, OnChange|smallfry OnChange",
    "raw system calls, a stat a directory|smallfry in Rust, OnChange, batch|smallfry OnChange, batch",
];

fn table(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let headings = "medians|a file|x INTERNAL / oxc crate|x a Map|of raw";
    view.table(page, headings, |row| {
        let of = &result.rows[row];
        let beside = |name: &str| match view.find(of.runtime.name(), name) {
            Some(_) => view.ratio_cell(row, name),
            None => "-".to_owned(),
        };
        vec![
            or_dash(view.median(row), text::duration),
            beside(if of.runtime.is_node() { INTERNAL } else { OXC }),
            beside(MAP),
            view.distance_cell(row, raw(result.case, of)),
        ]
    });
}

/// Returns the system calls that the row has to make, if it does not believe what it knows.
fn raw(case: Case, row: &Row) -> &'static str {
    match (case.cold, row.way.style.is_bulk()) {
        (true, _) => RAW_READS,
        (false, true) => RAW_BATCH,
        (false, false) => RAW_EACH,
    }
}
