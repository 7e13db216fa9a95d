//! Both tables of the reference in their forms, medians and ratios per case, percentiles, geometric
//! means and the cases that lose.

use super::super::prelude::*;
use super::{
    BEFORE, Case, NODE, NODE_AA, RAW, SMALLFRY, SMALLFRY_RUST, STD, call_ns, calls, percentiles,
    rate,
};
use crate::bench::report::text::micros;
use crate::bench::runtime::protocol::Usage;
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::welch::Welch;

/// A case counts as lost when its interval reaches below this.
const LOST: f64 = 0.97;
/// More cases than this are listed in the JSON file only.
const MAX_LISTED: usize = 24;
/// Nor are more lost ones.
const MAX_LOST: usize = 40;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    let all = All {
        cases: results.cases.iter().collect(),
        seed: session.options.seed,
    };
    let what = format!("{} cases", results.cases.len());
    page.title("write-string", session, &what, results.rounds);
    page.failures(results);
    let is_listed = results.cases.len() <= MAX_LISTED;
    for node in &session.nodes {
        let name = node.runtime.name();
        if is_listed {
            let headings =
                "µs a call|node:fs|A/A|before|smallfry|above node:fs, ns|x node:fs (95 %)";
            let rows = [NODE, NODE_AA, BEFORE, SMALLFRY].map(|row| (name, row));
            medians(page, &all, &format!("{name}: {headings}"), &rows, [0, 3]);
            page.note(LEGEND);
        }
        let pairs: &[(&str, &str)] = match node.package {
            Some(_) => &[(NODE, SMALLFRY), (BEFORE, SMALLFRY)],
            None => &[(BEFORE, NODE)],
        };
        for &(from, to) in pairs {
            let heading = format!("{name}: {to} against {from}");
            comparison(page, &all, &heading, (name, from), (name, to));
        }
    }
    if session.nodes.iter().all(|node| node.package.is_none()) {
        node_versions(page, &all, &session.nodes);
    }
    distributions(page, &all, session);
    let strings = all.only(|case| case.data == Data::String);
    if is_listed && IN_RUST.iter().all(|row| all.has(*row)) {
        let headings = "Rust: µs a call|std|smallfry|raw|above raw, ns|x raw (95 %)";
        medians(page, &strings, headings, &IN_RUST, [2, 1]);
    }
    if is_listed && (session.is_named || session.extent == Extent::All) {
        for result in &all.cases {
            all_percentiles(page, result);
        }
    }
    for node in &session.nodes {
        summary(page, &all, node, results.rounds);
    }
    rust_summary(page, &all, &strings);
}

/// A row, by its runtime and name.
type Named<'a> = (&'a str, &'a str);

/// All cases, and the arithmetic that every part of the report needs.
struct All<'a> {
    cases: Vec<&'a CaseResult<Case>>,
    seed: u64,
}

impl<'a> All<'a> {
    fn only(&self, holds: fn(&Case) -> bool) -> Self {
        let cases = self.cases.iter().copied();
        Self {
            cases: cases.filter(|result| holds(&result.case)).collect(),
            seed: self.seed,
        }
    }

    fn view(&self, result: &'a CaseResult<Case>) -> View<'a> {
        View::by(self.seed, result, |run, _| call_ns(run))
    }

    fn row(&self, result: &'a CaseResult<Case>, row: Named) -> Option<usize> {
        self.view(result).find(row.0, row.1)
    }

    fn ratio(&self, result: &'a CaseResult<Case>, from: Named, to: Named) -> Option<Interval> {
        let (from, to) = (self.row(result, from)?, self.row(result, to)?);
        self.view(result).ratio(from, to)
    }

    fn percentiles(&self, result: &'a CaseResult<Case>, row: Named) -> Option<Percentiles> {
        percentiles(result, self.row(result, row)?)
    }

    fn p50(&self, result: &'a CaseResult<Case>, row: Named) -> Option<f64> {
        Some(self.percentiles(result, row)?.p50)
    }

    fn has(&self, row: Named) -> bool {
        let mut cases = self.cases.iter();
        cases.any(|result| self.row(result, row).is_some())
    }

    /// Returns the geometric mean over the cases.
    fn mean(&self, from: Named, to: Named) -> Option<Interval> {
        let logs = self.cases.iter().filter_map(|result| {
            let [from, to] = [from, to].map(|row| self.row(result, row));
            let view = self.view(result);
            let logs = bootstrap::log_ratios(&view.times(from?), &view.times(to?));
            logs.iter().any(Option::is_some).then_some(logs)
        });
        bootstrap::geometric_mean(&logs.collect::<Vec<_>>(), self.seed)
    }

    fn find(&self, name: &str) -> Option<&'a CaseResult<Case>> {
        let mut cases = self.cases.iter().copied();
        cases.find(|result| result.case.short() == name)
    }
}

/// Shows one line per case: medians, and how the second row in `compared` compares with the first.
fn medians(
    page: &mut Page,
    all: &All,
    headings: &str,
    rows: &[Named],
    [baseline, ours]: [usize; 2],
) {
    let ratio = |result| all.ratio(result, rows[baseline], rows[ours]);
    let estimates = all
        .cases
        .iter()
        .filter_map(|result| Some(ratio(result)?.estimate));
    let best = estimates.fold(1.0, f64::max);
    let lines = all.cases.iter().map(|result| {
        let medians: Vec<_> = rows.iter().map(|row| all.p50(result, *row)).collect();
        let above = medians[ours].zip(medians[baseline]);
        let above = above.map(|(ours, baseline)| ours - baseline);
        let ratio = ratio(result);
        let mut line = vec![result.case.short()];
        line.extend(medians.iter().map(|ns| or_dash(*ns, micros)));
        line.push(or_dash(above, |ns| thousands(ns.round() as i64)));
        line.push(text::ratio(ratio));
        let part = ratio.map_or(0.0, |ratio| ratio.estimate / best);
        line.push(text::bar(part, text::bar_cells()));
        line
    });
    page.table(&format!("{headings}|<"), lines);
}

const LEGEND: &str = "Medians. A/A: node:fs once more, in a process of its own: what differs from \
    node:fs is noise. before: Buffer.from, openSync, writeSync, closeSync, as strings were written \
    before Node had a native path. Calls too short for the clock are timed several to a sample.";

/// Compares the first Node with each later one, without smallfry.
fn node_versions(page: &mut Page, all: &All, nodes: &[Node]) {
    let Some((first, others)) = nodes.split_first() else {
        return;
    };
    for other in others {
        let (from, to) = (first.runtime.name(), other.runtime.name());
        let heading = format!("node:fs of {to} against {from}");
        comparison(page, all, &heading, (from, NODE), (to, NODE));
        page.about(format!("write-string, {heading}"));
        for (group, holds) in GROUPS {
            let of = all.only(holds);
            if let Some(mean) = of.mean((from, NODE), (to, NODE)) {
                let (verdict, count) = (verdict(mean), of.cases.len());
                page.say(format!(
                    "{group}: {verdict}, geometric mean of {count} cases."
                ));
            }
        }
    }
}

/// Shows the first table of the reference: `confidence improvement accuracy`.
fn comparison(page: &mut Page, all: &All, heading: &str, from: Named, to: Named) {
    let mut lines = Vec::new();
    for (addressing, place) in [("overwritten", "by path"), ("fd", "by fd")] {
        for length in [1_024, 102_400, 1_048_576] {
            let Some(result) = all.find(&format!("{length} ascii disk {addressing}")) else {
                continue;
            };
            let [from, to] = [from, to].map(|row| -> Vec<f64> {
                let row = all.row(result, row);
                let runs = row.into_iter().flat_map(|row| result.outcomes[row].done());
                runs.filter_map(rate).collect()
            });
            let Some(welch) = Welch::compare(&from, &to) else {
                continue;
            };
            let mut line = vec![
                format!("{place}, {} ascii", thousands(length)),
                welch.stars().to_owned(),
                format!("{:.2} %", welch.improvement),
            ];
            line.extend(welch.accuracy.map(|half| format!("±{half:.2}%")));
            lines.push(line);
        }
    }
    let headings = format!("{heading}|confidence|improvement|accuracy (*)|(**)|(***)");
    page.table(&headings, lines);
}

/// The lengths and texts of the second table of the reference, and their names in it.
const DISTRIBUTIONS: [(&str, &str); 4] = [
    ("12 ascii null path", "12 ascii"),
    ("12 mixed null path", "12 utf8"),
    ("12288 ascii null path", "12288 ascii"),
    ("18432 mixed null path", "18432 utf8"),
];

/// Shows the second table of the reference: `time (avg) (min … max) p75 p99 p995`, by path onto the
/// null device.
fn distributions(page: &mut Page, all: &All, session: &Session) {
    let mut lines = Vec::new();
    for (case, name) in DISTRIBUTIONS {
        let Some(result) = all.find(case) else {
            continue;
        };
        let nodes = session.nodes.iter().map(|node| node.runtime.name());
        for (node, row) in nodes.flat_map(|node| [(node, NODE), (node, SMALLFRY)]) {
            lines.extend(all.percentiles(result, (node, row)).map(|found| {
                let [min, max] = [found.min, found.max].map(text::duration);
                let mut line = vec![format!("{name}, {node} {row}"), text::duration(found.mean)];
                line.push(format!("({min} … {max})"));
                line.extend([found.p75, found.p99, found.p995].map(text::duration));
                line
            }));
        }
    }
    let headings = "by path, null device|time (avg)|(min … max)|p75|p99|p995";
    page.table(headings, lines);
}

const IN_RUST: [Named; 3] = [("Rust", STD), ("Rust", SMALLFRY_RUST), ("Rust", RAW)];

/// Shows every sample of every row of one case.
fn all_percentiles(page: &mut Page, result: &CaseResult<Case>) {
    let rows = (0..result.rows.len()).filter_map(|row| Some((row, percentiles(result, row)?)));
    let rows: Vec<(usize, Percentiles)> = rows.collect();
    let medians = rows.iter().map(|(_, found)| found.p50);
    let slowest = medians.fold(f64::MIN_POSITIVE, f64::max);
    let lines = rows.iter().map(|(row, found)| {
        let usage = |of: fn(&Usage) -> u64| {
            let runs = result.outcomes[*row].done();
            text::millis(runs.map(|run| of(&run.usage) as f64).sum())
        };
        let bar = text::bar(found.p50 / slowest, text::bar_cells());
        let mut line = vec![result.rows[*row].label.clone(), bar];
        let columns = Percentiles::TABLE.iter();
        line.extend(columns.map(|(name, of)| match *name {
            "Total" => text::millis(of(found)),
            _ => micros(of(found)),
        }));
        line.push(thousands(found.iterations as i64));
        line.extend([usage(|usage| usage.user_ns), usage(|usage| usage.sys_ns)]);
        line
    });
    let (case, calls) = (result.case.short(), calls(result));
    let names = Percentiles::TABLE.map(|(name, _)| name).join("|");
    let headings = format!("µs: {case}, calls a sample: {calls}|<|{names} ms");
    page.table(&format!("{headings}|Iterations|user ms|sys ms"), lines);
}

/// A group of cases, and how to call it.
type Group = (&'static str, fn(&Case) -> bool);

const GROUPS: [Group; 2] = [
    ("by descriptor, null device and tmpfs", |case| {
        !case.is_by_path_on_disk()
    }),
    ("by path on this disk", Case::is_by_path_on_disk),
];

fn summary(page: &mut Page, all: &All, node: &Node, rounds: usize) {
    let name = node.runtime.name();
    page.about(format!("write-string, Node {name}"));
    let [baseline, itself, before, ours] = [NODE, NODE_AA, BEFORE, SMALLFRY].map(|row| (name, row));
    if all.has(baseline) && all.has(itself) {
        page.noise("node:fs", all.mean(baseline, itself), rounds);
    }
    if !all.has(baseline) || !all.has(ours) {
        return;
    }
    for (group, holds) in GROUPS {
        let of = all.only(holds);
        let against = |than| Some(verdict(of.mean(than, ours)?));
        if let (Some(node), Some(before)) = (against(baseline), against(before)) {
            let count = of.cases.len();
            page.say(format!(
                "{group}: smallfry against node:fs {node}, against before {before}; geometric means of \
                 {count} cases."
            ));
        }
        lost(page, &of, group, [baseline, itself, ours]);
    }
}

/// Lists the cases whose interval reaches below [`LOST`], with what the baseline against itself did
/// there.
fn lost(page: &mut Page, all: &All, group: &str, [baseline, itself, ours]: [Named; 3]) {
    let reaches = |ratio: &Interval| ratio.low < LOST;
    let (mut lost, mut itself_lost, count) = (Vec::new(), 0, all.cases.len());
    for result in &all.cases {
        let itself = all.ratio(result, baseline, itself);
        itself_lost += usize::from(itself.as_ref().is_some_and(reaches));
        if let Some(ratio) = all.ratio(result, baseline, ours).filter(reaches) {
            lost.push((ratio, itself, result.case.short()));
        }
    }
    if lost.is_empty() {
        return page.say(format!(
            "{group}: in none of {count} cases does the interval reach below {LOST}."
        ));
    }
    // Losses first, then what is merely not known; the worst on top.
    lost.sort_by(|(a, ..), (b, ..)| {
        let by_loss = (a.high >= 1.0).cmp(&(b.high >= 1.0));
        by_loss.then(a.low.total_cmp(&b.low))
    });
    let slower = lost.iter().filter(|(ratio, ..)| ratio.high < 1.0).count();
    page.warn(format!(
        "{group}: in {} of {count} cases the interval reaches below {LOST} (node:fs against itself: in \
         {itself_lost}); in {slower} smallfry LOSES, in the others this run cannot tell:",
        lost.len()
    ));
    for (ratio, itself, case) in lost.iter().take(MAX_LOST) {
        let kind = if ratio.high < 1.0 { "LOSES " } else { "unsure" };
        let (ratio, itself) = (text::ratio(Some(*ratio)), text::ratio(*itself));
        page.detail(format!("{kind} {ratio}, itself {itself}: {case}"));
    }
    if let Some(more) = lost.len().checked_sub(MAX_LOST).filter(|more| *more > 0) {
        page.detail(format!("and {more} more; --json FILE holds all"));
    }
}

fn rust_summary(page: &mut Page, all: &All, strings: &All) {
    let [std, ours, raw] = IN_RUST;
    if !all.has(std) || !all.has(ours) {
        return;
    }
    page.about("write-string, Rust");
    if let Some(mean) = all.mean(std, ours) {
        let verdict = verdict(mean);
        page.say(format!("smallfry against std: {verdict}, geometric mean."));
    }
    if !all.has(raw) {
        return;
    }
    let is_near = |result: &&&CaseResult<Case>| {
        let medians = all.p50(result, ours).zip(all.p50(result, raw));
        medians.is_some_and(|(ours, raw)| ours - raw <= 50.0_f64.max(0.05 * raw))
    };
    let reached = strings.cases.iter().filter(is_near).count();
    let count = strings.cases.len();
    page.say(format!(
        "smallfry's median is within 5 % or 50 ns of raw system calls in {reached} of {count} cases."
    ));
}
