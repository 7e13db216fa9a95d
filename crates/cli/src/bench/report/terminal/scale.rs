//! The scenario `scale`: cost a file and memory, by number of files, then sentences.

use super::many::{self, typical};
use super::{Sentences, text};
use crate::bench::runtime::protocol::Times;
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::scale::{Case, Results};
use crate::bench::session::Session;
use std::fmt::Write as _;

/// Cost a file is called flat within this.
const FLAT: f64 = 1.2;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let Some(first) = results.cases.first() else {
        return;
    };
    let Case {
        bytes_per_file,
        directories,
        ..
    } = first.case;
    let title = format!(
        "scale on {}: bulk reads of files of {} bytes in {} directories; {}; {} rounds, a fresh process for every run",
        session.disk_words(),
        text::thousands(bytes_per_file as i64),
        text::thousands(directories as i64),
        many::cache(first, false),
        results.rounds
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &title, text::width()));
    let mut table = text::table(
        &[
            "medians",
            "files",
            "ms",
            "µs a file",
            "kept MiB",
            "MiB beside",
            "of it still there",
        ],
        1,
    );
    for (row, of) in first.rows.iter().enumerate() {
        for result in &results.cases {
            let cell = |of: &dyn Fn(&Times) -> f64| {
                typical(result, row, |run| Some(of(run)))
                    .map_or_else(|| "-".to_owned(), text::number)
            };
            table.add_row([
                of.label.clone(),
                text::thousands(result.case.files as i64),
                cell(&|run| run.usage.wall_ns as f64 / 1e6),
                cell(&per_file),
                cell(&|run| kept(run, of.way.keep)),
                cell(&|run| beside(run, of.way.keep).0),
                cell(&|run| beside(run, of.way.keep).1),
            ]);
        }
    }
    text::put(out, &table);
    many::failures(out, &results.cases);
    let note = "MiB beside: the highest resident set while reading, less what was there before (the paths are) and less the bytes kept. \
                What holds the contents is in it: an object for each in Node, a handle for each in Rust.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    sentences(said, results, first);
}

fn sentences(said: &mut Sentences, results: &Results, first: &CaseResult<Case>) {
    said.about("scale".to_owned());
    for (row, of) in first.rows.iter().enumerate() {
        let costs: Vec<f64> = results
            .cases
            .iter()
            .filter_map(|result| typical(result, row, |run| Some(per_file(run))))
            .collect();
        let most = costs.iter().copied().fold(0.0, f64::max);
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        if costs.len() > 1 {
            let judged = if most <= least * FLAT {
                "flat"
            } else {
                "NOT flat"
            };
            said.say(format!(
                "{}: {} to {} µs a file, {judged} within 20 %.",
                of.label,
                text::number(least),
                text::number(most)
            ));
        }
    }
}

/// Microseconds.
fn per_file(run: &Times) -> f64 {
    run.usage.wall_ns as f64 / 1e3 / run.files.max(1) as f64
}

const MIB: f64 = 1024.0 * 1024.0;

fn kept(run: &Times, keep: bool) -> f64 {
    if keep { run.bytes as f64 / MIB } else { 0.0 }
}

/// MiB beside paths and contents: the highest, and at the end.
fn beside(run: &Times, keep: bool) -> (f64, f64) {
    let Some(memory) = run.memory_kib else {
        return (0.0, 0.0);
    };
    let over = |kib: u64| (kib as f64 - memory.before as f64) / 1024.0 - kept(run, keep);
    (over(memory.peak), over(memory.after))
}
