//! Cost per file and memory, by number of files, then sentences.

use super::super::prelude::*;

/// The cost of a file is called flat within this.
const FLAT: f64 = 1.2;

const NOTE: &str = "MiB beside: the highest resident set while reading, less what was there before \
    (the paths are) and less the bytes kept. What holds the contents is in it: an object for each in \
    Node, a handle for each in Rust.";

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Shape>) {
    let Some(first) = results.cases.first() else {
        return;
    };
    let what = format!(
        "bulk reads of files of {} bytes in {} directories; {}",
        thousands(first.case.bytes_per_file as i64),
        thousands(first.case.directories as i64),
        cache::describe(first, false)
    );
    page.title("scale", session, &what, results.rounds);
    let mut lines = Vec::new();
    for (row, of) in first.rows.iter().enumerate() {
        for result in &results.cases {
            let keep = of.way.keep;
            let cell = |of: &dyn Fn(&Times) -> f64| {
                or_dash(result.typical(row, |run| Some(of(run))), text::number)
            };
            lines.push(vec![
                of.label.clone(),
                thousands(result.case.files as i64),
                cell(&|run| run.usage.wall_ns as f64 / 1e6),
                cell(&per_file),
                cell(&|run| kept(run, keep)),
                cell(&|run| beside(run, keep).0),
                cell(&|run| beside(run, keep).1),
            ]);
        }
    }
    let headings = "medians|files|ms|µs a file|kept MiB|MiB beside|of it still there";
    page.table(headings, lines);
    page.failures(results);
    page.note(NOTE);
    sentences(page, results, first);
}

fn sentences(page: &mut Page, results: &Results<Shape>, first: &CaseResult<Shape>) {
    page.about("scale");
    for (row, of) in first.rows.iter().enumerate() {
        let cases = results.cases.iter();
        let costs = cases.filter_map(|result| result.typical(row, |run| Some(per_file(run))));
        let costs: Vec<f64> = costs.collect();
        let max = costs.iter().copied().fold(0.0, f64::max);
        let min = costs.iter().copied().fold(f64::INFINITY, f64::min);
        if costs.len() > 1 {
            let is_flat = max <= min * FLAT;
            let judged = if is_flat { "flat" } else { "NOT flat" };
            let (label, min, max) = (&of.label, text::number(min), text::number(max));
            page.say(format!(
                "{label}: {min} to {max} µs a file, {judged} within 20 %."
            ));
        }
    }
}

/// Returns microseconds.
fn per_file(run: &Times) -> f64 {
    run.usage.wall_ns as f64 / 1e3 / run.files.max(1) as f64
}

const MIB: f64 = 1024.0 * 1024.0;

fn kept(run: &Times, keep: bool) -> f64 {
    if keep { run.bytes as f64 / MIB } else { 0.0 }
}

/// Returns MiB beside paths and contents: the highest, and at the end.
fn beside(run: &Times, keep: bool) -> (f64, f64) {
    let Some(memory) = run.memory_kib else {
        return (0.0, 0.0);
    };
    let over = |kib: u64| (kib as f64 - memory.before as f64) / 1024.0 - kept(run, keep);
    (over(memory.peak), over(memory.after))
}
