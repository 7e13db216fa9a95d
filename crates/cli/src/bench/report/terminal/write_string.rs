//! The scenario `write-string`: both tables of the reference in their forms, medians and ratios per case, percentiles,
//! geometric means and the cases that lose.

use super::runs::find;
use super::{Sentences, text, verdict};
use crate::bench::runtime::protocol::{Addressing, Data, Text};
use crate::bench::scenario::write_string::{
    AGAIN, BEFORE, Cell, CellResult, FLOOR, NODE, Results, SMALLFRY, SMALLFRY_RUST, STD, Target,
};
use crate::bench::session::{Extent, Node, Session};
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::welch::Welch;
use std::fmt::Write as _;

/// A case counts as lost when its interval reaches below this.
const LOST: f64 = 0.97;
/// More cases than this are listed in the JSON file only.
const MAX_LISTED: usize = 24;
/// Nor are more lost ones.
const MAX_LOST: usize = 40;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let view = View {
        results,
        seed: session.arguments.seed,
    };
    let _ = writeln!(
        out,
        "\nwrite-string: {} cases, {} rounds, a fresh process for every row in every round",
        results.cells.len(),
        results.rounds
    );
    failures(out, results);
    let listed = results.cells.len() <= MAX_LISTED;
    for node in &session.nodes {
        let several = session.nodes.len() > 1;
        if listed {
            cases(out, &view, node, several);
        }
        if listed {
            legend(out);
        }
        comparisons(out, &view, node);
    }
    if session.nodes.iter().all(|node| node.package.is_none()) {
        node_versions(out, said, &view, &session.nodes);
    }
    distributions(out, &view, session);
    if listed {
        rust(out, &view);
    }
    let named = !session.arguments.scenarios.is_empty() || session.plan.extent == Extent::All;
    if named && listed {
        for cell in &results.cells {
            percentiles(out, results, cell);
        }
    }
    for node in &session.nodes {
        summary(said, &view, node);
    }
    rust_summary(said, &view);
}

/// Batches in a round.
pub(super) fn turns(session: &Session) -> usize {
    let cells = crate::bench::scenario::write_string::cells(session).map_or(0, |cells| cells.len());
    cells * crate::bench::scenario::write_string::rows(session).len()
}

/// The results, and the arithmetic that every part of the report needs.
struct View<'a> {
    results: &'a Results,
    seed: u64,
}

impl View<'_> {
    fn find(&self, runtime: &str, implementation: &str) -> Option<usize> {
        find(&self.results.rows, runtime, implementation)
    }

    fn ratio(&self, cell: &CellResult, baseline: usize, row: usize) -> Option<Interval> {
        bootstrap::ratio(&cell.medians(baseline), &cell.medians(row), self.seed)
    }

    fn geometric_mean<'a>(
        &self,
        cells: impl Iterator<Item = &'a CellResult>,
        baseline: usize,
        row: usize,
    ) -> Option<Interval> {
        let logs: Vec<_> = cells
            .map(|cell| bootstrap::log_ratios(&cell.medians(baseline), &cell.medians(row)))
            .filter(|logs| logs.iter().any(Option::is_some))
            .collect();
        bootstrap::geometric_mean(&logs, self.seed)
    }
}

fn p50(cell: &CellResult, row: Option<usize>) -> Option<f64> {
    Some(cell.percentiles(row?)?.p50)
}

fn or_dash(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), form)
}

/// The case in few words: what is the usual kind goes without saying.
fn short(cell: &Cell) -> String {
    let name = cell.to_string().replace(" string writeFileSync", "");
    name.replace("path new", "new")
        .replace("path overwritten", "overwritten")
}

fn failures(out: &mut String, results: &Results) {
    for cell in &results.cells {
        for (row, outcome) in results.rows.iter().zip(&cell.rows) {
            if let Some(error) = outcome.as_ref().and_then(|outcome| outcome.error.as_ref()) {
                let _ = writeln!(out, "  FAILED  {}, {}: {error}", cell.cell, row.label);
            }
        }
    }
}

/// One line a case: medians, and how smallfry compares.
fn cases(out: &mut String, view: &View, node: &Node, several: bool) {
    let name = node.runtime.name();
    let rows =
        [NODE, AGAIN, BEFORE, SMALLFRY].map(|implementation| view.find(name, implementation));
    let [baseline, again, before, ours] = rows;
    let heading = if several {
        format!("{name}: µs a call")
    } else {
        "µs a call, medians".to_owned()
    };
    let mut table = text::table(
        &[
            heading.as_str(),
            "node:fs",
            "again",
            "before",
            "smallfry",
            "x node:fs (95 %)",
            "",
        ],
        1,
    );
    let best = view
        .results
        .cells
        .iter()
        .filter_map(|cell| view.ratio(cell, baseline?, ours?))
        .map(|interval| interval.estimate)
        .fold(1.0, f64::max);
    for cell in &view.results.cells {
        let ratio = baseline
            .zip(ours)
            .and_then(|(baseline, ours)| view.ratio(cell, baseline, ours));
        let mut line = vec![short(&cell.cell)];
        line.extend(
            [baseline, again, before, ours].map(|row| or_dash(p50(cell, row), text::micros)),
        );
        line.push(text::ratio(ratio));
        line.push(ratio.map_or_else(String::new, |ratio| {
            text::bar(ratio.estimate / best, text::bar_cells())
        }));
        table.add_row(line);
    }
    if let Some(column) = table.column_mut(6) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    text::put(out, &table);
}

fn legend(out: &mut String) {
    let note = "again: node:fs once more, in a process of its own: what differs from node:fs is noise. before: Buffer.from, openSync, \
                writeSync, closeSync, as strings were written before Node had a native path. Calls too short for the clock are timed several to a sample.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
}

/// The first table of the reference: `confidence improvement accuracy`.
fn comparisons(out: &mut String, view: &View, node: &Node) {
    let name = node.runtime.name();
    let with_package = [(NODE, SMALLFRY), (BEFORE, SMALLFRY)];
    let without = [(BEFORE, NODE)];
    let pairs = if node.package.is_some() {
        &with_package[..]
    } else {
        &without
    };
    for &(from, to) in pairs {
        if let (Some(baseline), Some(row)) = (view.find(name, from), view.find(name, to)) {
            comparison(
                out,
                view,
                &format!("{name}: {to} against {from}"),
                baseline,
                row,
            );
        }
    }
}

/// The first Node against each later one, with nothing of smallfry's.
fn node_versions(out: &mut String, said: &mut Sentences, view: &View, nodes: &[Node]) {
    let Some((first, others)) = nodes.split_first() else {
        return;
    };
    for other in others {
        let (from, to) = (first.runtime.name(), other.runtime.name());
        let (Some(baseline), Some(row)) = (view.find(from, NODE), view.find(to, NODE)) else {
            continue;
        };
        let heading = format!("node:fs of {to} against {from}");
        comparison(out, view, &heading, baseline, row);
        said.about(format!("write-string, {heading}"));
        for (group, holds) in GROUPS {
            let cells = || view.results.cells.iter().filter(|cell| holds(&cell.cell));
            if let Some(mean) = view.geometric_mean(cells(), baseline, row) {
                said.say(format!(
                    "{group}: {}, geometric mean of {} cases.",
                    verdict(mean),
                    cells().count()
                ));
            }
        }
    }
}

fn comparison(out: &mut String, view: &View, heading: &str, baseline: usize, row: usize) {
    let mut table = text::table(
        &[
            heading,
            "confidence",
            "improvement",
            "accuracy (*)",
            "(**)",
            "(***)",
        ],
        1,
    );
    let places = [
        (Target::Disk, Addressing::Overwritten),
        (Target::Disk, Addressing::Fd),
    ];
    let mut lines = 0;
    for (target, addressing) in places {
        for length in [1_024, 102_400, 1_048_576] {
            let cell = Cell::written(length, Text::Ascii, target, addressing);
            let welch = view
                .results
                .cell(cell)
                .and_then(|result| Welch::compare(&result.rates(baseline), &result.rates(row)));
            let Some(welch) = welch else { continue };
            let place = if addressing == Addressing::Fd {
                "by fd"
            } else {
                "by path"
            };
            let mut line = vec![
                format!("{place}, {} ascii", text::thousands(i64::from(length))),
                welch.stars().to_owned(),
                format!("{:.2} %", welch.improvement),
            ];
            line.extend(welch.accuracy.map(|half| format!("±{half:.2}%")));
            table.add_row(line);
            lines += 1;
        }
    }
    if lines > 0 {
        text::put(out, &table);
    }
}

/// The second table of the reference: `time (avg) (min … max) p75 p99 p995`, by path onto the null device.
fn distributions(out: &mut String, view: &View, session: &Session) {
    let mut table = text::table(
        &[
            "by path, null device",
            "time (avg)",
            "(min … max)",
            "p75",
            "p99",
            "p995",
        ],
        1,
    );
    let mut lines = 0;
    for (length, text_kind, name) in [
        (12, Text::Ascii, "12 ascii"),
        (12, Text::Mixed, "12 utf8"),
        (12_288, Text::Ascii, "12288 ascii"),
        (18_432, Text::Mixed, "18432 utf8"),
    ] {
        let cell = Cell::written(length, text_kind, Target::Null, Addressing::Path);
        let Some(result) = view.results.cell(cell) else {
            continue;
        };
        for (node, implementation) in session
            .nodes
            .iter()
            .flat_map(|node| [(node, NODE), (node, SMALLFRY)])
        {
            let row = view.find(node.runtime.name(), implementation);
            let Some(found) = row.and_then(|row| result.percentiles(row)) else {
                continue;
            };
            table.add_row([
                format!("{name}, {} {implementation}", node.runtime.name()),
                text::duration(found.mean),
                format!(
                    "({} … {})",
                    text::duration(found.min),
                    text::duration(found.max)
                ),
                text::duration(found.p75),
                text::duration(found.p99),
                text::duration(found.p995),
            ]);
            lines += 1;
        }
    }
    if lines > 0 {
        text::put(out, &table);
    }
}

/// The rows in Rust beside the floor.
fn rust(out: &mut String, view: &View) {
    let [Some(std), Some(ours), Some(floor)] =
        [STD, SMALLFRY_RUST, FLOOR].map(|implementation| view.find("Rust", implementation))
    else {
        return;
    };
    let mut table = text::table(
        &[
            "Rust, µs a call, medians",
            "std",
            "smallfry",
            "floor",
            "above floor, ns",
            "x floor (95 %)",
        ],
        1,
    );
    for cell in view
        .results
        .cells
        .iter()
        .filter(|cell| cell.cell.data == Data::String)
    {
        let above = p50(cell, Some(ours))
            .zip(p50(cell, Some(floor)))
            .map(|(ours, floor)| ours - floor);
        table.add_row([
            short(&cell.cell),
            or_dash(p50(cell, Some(std)), text::micros),
            or_dash(p50(cell, Some(ours)), text::micros),
            or_dash(p50(cell, Some(floor)), text::micros),
            or_dash(above, |ns| text::thousands(ns.round() as i64)),
            text::ratio(view.ratio(cell, floor, ours)),
        ]);
    }
    text::put(out, &table);
}

/// Of every sample of every row of one case.
fn percentiles(out: &mut String, results: &Results, cell: &CellResult) {
    let heading = if cell.calls > 1 {
        format!("µs: {} ({} calls a sample)", short(&cell.cell), cell.calls)
    } else {
        format!("µs: {}", short(&cell.cell))
    };
    let mut table = text::table(
        &[
            heading.as_str(),
            "",
            "Min",
            "P50",
            "P90",
            "P95",
            "P99",
            "P99.9",
            "Max",
            "Total ms",
            "Iterations",
            "user ms",
            "sys ms",
        ],
        2,
    );
    let rows: Vec<_> = (0..results.rows.len())
        .filter_map(|row| Some((row, cell.percentiles(row)?)))
        .collect();
    let slowest = rows
        .iter()
        .map(|(_, found)| found.p50)
        .fold(f64::MIN_POSITIVE, f64::max);
    for (row, found) in rows {
        let usage = |of: fn(&crate::bench::runtime::protocol::Usage) -> u64| {
            let batches = cell
                .row(row)
                .map(|row| row.batches.as_slice())
                .unwrap_or_default();
            text::millis(
                batches
                    .iter()
                    .flatten()
                    .map(|batch| of(&batch.samples.usage) as f64)
                    .sum(),
            )
        };
        let mut line = vec![
            results.rows[row].label.clone(),
            text::bar(found.p50 / slowest, text::bar_cells()),
        ];
        line.extend(
            [
                found.min, found.p50, found.p90, found.p95, found.p99, found.p999, found.max,
            ]
            .map(text::micros),
        );
        line.push(text::millis(found.total));
        line.push(text::thousands(found.iterations as i64));
        line.push(usage(|usage| usage.user_ns));
        line.push(usage(|usage| usage.sys_ns));
        table.add_row(line);
    }
    text::put(out, &table);
}

/// A group of cases, and how to call it.
type Group = (&'static str, fn(&Cell) -> bool);

const GROUPS: [Group; 2] = [
    ("by descriptor, null device and tmpfs", |cell| {
        !cell.is_by_path_on_disk()
    }),
    ("by path on this disk", Cell::is_by_path_on_disk),
];

fn summary(said: &mut Sentences, view: &View, node: &Node) {
    let name = node.runtime.name();
    said.about(format!("write-string, Node {name}"));
    let Some(baseline) = view.find(name, NODE) else {
        return;
    };
    let all = || view.results.cells.iter();
    if let Some(again) = view.find(name, AGAIN) {
        said.noise(
            "node:fs",
            view.geometric_mean(all(), baseline, again),
            view.results.rounds,
        );
    }
    let Some(ours) = view.find(name, SMALLFRY) else {
        return;
    };
    for (group, holds) in GROUPS {
        let cells = || all().filter(|cell| holds(&cell.cell));
        let against = |than| {
            Some(verdict(view.geometric_mean(
                cells(),
                view.find(name, than)?,
                ours,
            )?))
        };
        if let (Some(node), Some(before)) = (against(NODE), against(BEFORE)) {
            said.say(format!(
                "{group}: smallfry against node:fs {node}, against before {before}; geometric means of {} cases.",
                cells().count()
            ));
        }
        lost(
            said,
            view,
            group,
            cells(),
            [baseline, ours],
            view.find(name, AGAIN),
        );
    }
}

/// Cases whose interval reaches below [`LOST`], with what the baseline against itself did there.
fn lost<'a>(
    said: &mut Sentences,
    view: &View,
    group: &str,
    cells: impl Iterator<Item = &'a CellResult>,
    [baseline, ours]: [usize; 2],
    again: Option<usize>,
) {
    let reaches = |ratio: &Interval| ratio.low < LOST;
    let (mut lost, mut itself_lost, mut count) = (Vec::new(), 0, 0);
    for cell in cells {
        count += 1;
        let itself = again.and_then(|again| view.ratio(cell, baseline, again));
        itself_lost += usize::from(itself.as_ref().is_some_and(reaches));
        if let Some(ratio) = view.ratio(cell, baseline, ours).filter(reaches) {
            lost.push((ratio, itself, cell));
        }
    }
    if lost.is_empty() {
        return said.say(format!(
            "{group}: in none of {count} cases does the interval reach below {LOST}."
        ));
    }
    // Losses first, then what is merely not known; the worst on top.
    lost.sort_by(|(a, ..), (b, ..)| {
        (a.high >= 1.0)
            .cmp(&(b.high >= 1.0))
            .then(a.low.total_cmp(&b.low))
    });
    let slower = lost.iter().filter(|(ratio, ..)| ratio.high < 1.0).count();
    said.warn(format!(
        "{group}: in {} of {count} cases the interval reaches below {LOST} (node:fs against itself: in {itself_lost}); \
         in {slower} smallfry LOSES, in the others this run cannot tell:",
        lost.len()
    ));
    for (ratio, itself, cell) in lost.iter().take(MAX_LOST) {
        let kind = if ratio.high < 1.0 { "LOSES " } else { "unsure" };
        let (ratio, itself) = (text::ratio(Some(*ratio)), text::ratio(*itself));
        said.detail(format!(
            "{kind} {ratio}, itself {itself}: {}",
            short(&cell.cell)
        ));
    }
    if let Some(more) = lost.len().checked_sub(MAX_LOST).filter(|more| *more > 0) {
        said.detail(format!("and {more} more; --json FILE holds all"));
    }
}

fn rust_summary(said: &mut Sentences, view: &View) {
    let [Some(std), Some(ours)] =
        [STD, SMALLFRY_RUST].map(|implementation| view.find("Rust", implementation))
    else {
        return;
    };
    let cells = || view.results.cells.iter();
    said.about("write-string, Rust".to_owned());
    if let Some(mean) = view.geometric_mean(cells(), std, ours) {
        said.say(format!(
            "smallfry against std: {}, geometric mean.",
            verdict(mean)
        ));
    }
    let Some(floor) = view.find("Rust", FLOOR) else {
        return;
    };
    let strings: Vec<_> = cells()
        .filter(|cell| cell.cell.data == Data::String)
        .collect();
    let near = |cell: &&&CellResult| {
        let (Some(ours), Some(floor)) = (p50(cell, Some(ours)), p50(cell, Some(floor))) else {
            return false;
        };
        ours - floor <= 50.0_f64.max(0.05 * floor)
    };
    let reached = strings.iter().filter(near).count();
    said.say(format!(
        "smallfry's median is within 5 % or 50 ns of the floor (bare system calls) in {reached} of {} cases.",
        strings.len()
    ));
}
