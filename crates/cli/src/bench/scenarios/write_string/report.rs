//! Both tables of the reference in their forms, medians and ratios per case, percentiles, geometric
//! means and the cases that lose.

use super::super::prelude::*;
use super::{
    Addressing, BEFORE, Case, DISTRIBUTIONS, NODE, NODE_AA, RAW, SMALLFRY, SMALLFRY_RUST, STD,
    Target, call_ns, calls, percentiles, rate,
};
use crate::bench::report::page::verdict;
use crate::bench::report::text::micros;
use crate::bench::runtime::protocol::{Data, Text, Usage};
use crate::bench::session::Node;
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::percentiles::Percentiles;
use crate::bench::stats::welch::Welch;

/// A case counts as lost when its interval reaches below this.
const LOST: f64 = 0.97;
/// More cases than this are listed in the JSON file only.
const MAX_LISTED: usize = 24;
/// Nor are more lost ones.
const MAX_LOST: usize = 40;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    let all = All {
        cases: &results.cases,
        seed: session.options.seed,
    };
    page.line(&format!(
        "\nwrite-string: {} cases, {} rounds, a fresh process for every row in every round",
        results.cases.len(),
        results.rounds
    ));
    page.failures(results);
    let listed = results.cases.len() <= MAX_LISTED;
    for node in &session.nodes {
        if listed {
            cases(page, &all, node, session.nodes.len() > 1);
            page.note(LEGEND);
        }
        comparisons(page, &all, node);
    }
    if session.nodes.iter().all(|node| node.package.is_none()) {
        node_versions(page, &all, &session.nodes);
    }
    distributions(page, &all, session);
    if listed {
        rust(page, &all);
    }
    if listed && (session.is_named || session.extent == Extent::All) {
        for result in all.cases {
            all_percentiles(page, result);
        }
    }
    for node in &session.nodes {
        summary(page, &all, node, results.rounds);
    }
    rust_summary(page, &all);
}

/// A row, by its runtime and name.
type Named<'a> = (&'a str, &'a str);

/// All cases, and the arithmetic that every part of the report needs.
#[derive(Clone, Copy)]
struct All<'a> {
    cases: &'a [CaseResult<Case>],
    seed: u64,
}

impl<'a> All<'a> {
    fn view(&self, result: &'a CaseResult<Case>) -> View<'a> {
        View::by(self.seed, result, |run, _| call_ns(run))
    }

    fn ratio(&self, result: &'a CaseResult<Case>, from: Named, to: Named) -> Option<Interval> {
        let view = self.view(result);
        view.ratio(view.find(from.0, from.1)?, view.find(to.0, to.1)?)
    }

    fn row(&self, result: &'a CaseResult<Case>, row: Named) -> Option<usize> {
        self.view(result).find(row.0, row.1)
    }

    fn p50(&self, result: &'a CaseResult<Case>, row: Named) -> Option<f64> {
        Some(percentiles(result, self.row(result, row)?)?.p50)
    }

    fn has(&self, row: Named) -> bool {
        let mut cases = self.cases.iter();
        cases.any(|result| self.row(result, row).is_some())
    }

    /// Returns the geometric mean over the cases that `holds` selects.
    fn mean(&self, holds: fn(&Case) -> bool, from: Named, to: Named) -> Option<Interval> {
        let cases = self.cases.iter().filter(|result| holds(&result.case));
        let logs = cases.filter_map(|result| {
            let view = self.view(result);
            let [from, to] = [from, to].map(|row| view.find(row.0, row.1));
            let logs = bootstrap::log_ratios(&view.times(from?), &view.times(to?));
            logs.iter().any(Option::is_some).then_some(logs)
        });
        bootstrap::geometric_mean(&logs.collect::<Vec<_>>(), self.seed)
    }

    fn count(&self, holds: fn(&Case) -> bool) -> usize {
        let cases = self.cases.iter().filter(|result| holds(&result.case));
        cases.count()
    }

    fn of(&self, case: Case) -> Option<&'a CaseResult<Case>> {
        self.cases.iter().find(|result| result.case == case)
    }
}

/// Names the case in few words: what is the usual kind goes without saying.
fn short(case: &Case) -> String {
    let name = case.to_string().replace(" string writeFileSync", "");
    name.replace("path new", "new")
        .replace("path overwritten", "overwritten")
}

/// Shows one line per case: medians, and how smallfry compares.
fn cases(page: &mut Page, all: &All, node: &Node, several: bool) {
    let name = node.runtime.name();
    let heading = if several {
        format!("{name}: µs a call")
    } else {
        "µs a call, medians".to_owned()
    };
    let ratio = |result| all.ratio(result, (name, NODE), (name, SMALLFRY));
    let ratios: Vec<Option<Interval>> = all.cases.iter().map(ratio).collect();
    let estimates = ratios.iter().flatten().map(|ratio| ratio.estimate);
    let best = estimates.fold(1.0, f64::max);
    let lines = all.cases.iter().zip(&ratios).map(|(result, ratio)| {
        let mut line = vec![short(&result.case)];
        let rows = [NODE, NODE_AA, BEFORE, SMALLFRY];
        line.extend(rows.map(|row| or_dash(all.p50(result, (name, row)), micros)));
        line.push(text::ratio(*ratio));
        line.push(ratio.map_or_else(String::new, |ratio| {
            text::bar(ratio.estimate / best, text::bar_cells())
        }));
        line
    });
    let headings = format!("{heading}|node:fs|A/A|before|smallfry|x node:fs (95 %)|<");
    page.table(&headings, 1, lines);
}

const LEGEND: &str = "A/A: node:fs once more, in a process of its own: what differs from node:fs is \
    noise. before: Buffer.from, openSync, writeSync, closeSync, as strings were written before Node had \
    a native path. Calls too short for the clock are timed several to a sample.";

/// Shows the first table of the reference: `confidence improvement accuracy`.
fn comparisons(page: &mut Page, all: &All, node: &Node) {
    let name = node.runtime.name();
    let pairs: &[(&str, &str)] = match node.package {
        Some(_) => &[(NODE, SMALLFRY), (BEFORE, SMALLFRY)],
        None => &[(BEFORE, NODE)],
    };
    for &(from, to) in pairs {
        let heading = format!("{name}: {to} against {from}");
        comparison(page, all, &heading, (name, from), (name, to));
    }
}

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
            if let Some(mean) = all.mean(holds, (from, NODE), (to, NODE)) {
                let (verdict, count) = (verdict(mean), all.count(holds));
                page.say(format!(
                    "{group}: {verdict}, geometric mean of {count} cases."
                ));
            }
        }
    }
}

fn comparison(page: &mut Page, all: &All, heading: &str, from: Named, to: Named) {
    let mut lines = Vec::new();
    for (addressing, place) in [
        (Addressing::Overwritten, "by path"),
        (Addressing::Fd, "by fd"),
    ] {
        for length in [1_024, 102_400, 1_048_576] {
            let case = Case::written(length, Text::Ascii, Target::Disk, addressing);
            let Some(result) = all.of(case) else { continue };
            let rates = |row| -> Vec<f64> {
                let row = all.row(result, row);
                let runs = row.into_iter().flat_map(|row| result.outcomes[row].done());
                runs.filter_map(rate).collect()
            };
            let Some(welch) = Welch::compare(&rates(from), &rates(to)) else {
                continue;
            };
            let mut line = vec![
                format!("{place}, {} ascii", thousands(i64::from(length))),
                welch.stars().to_owned(),
                format!("{:.2} %", welch.improvement),
            ];
            line.extend(welch.accuracy.map(|half| format!("±{half:.2}%")));
            lines.push(line);
        }
    }
    let headings = format!("{heading}|confidence|improvement|accuracy (*)|(**)|(***)");
    page.table(&headings, 1, lines);
}

/// Shows the second table of the reference: `time (avg) (min … max) p75 p99 p995`, by path onto the
/// null device.
fn distributions(page: &mut Page, all: &All, session: &Session) {
    let mut lines = Vec::new();
    for (length, text_kind, name) in DISTRIBUTIONS {
        let case = Case::written(length, text_kind, Target::Null, Addressing::Path);
        let Some(result) = all.of(case) else {
            continue;
        };
        let nodes = session.nodes.iter().map(|node| node.runtime.name());
        for (node, row) in nodes.flat_map(|node| [(node, NODE), (node, SMALLFRY)]) {
            let found = all.row(result, (node, row));
            let Some(found) = found.and_then(|row| percentiles(result, row)) else {
                continue;
            };
            let [mean, min, max, p75, p99, p995] = [
                found.mean, found.min, found.max, found.p75, found.p99, found.p995,
            ]
            .map(text::duration);
            let line = [format!("{name}, {node} {row}"), mean];
            let line = line.into_iter().chain([format!("({min} … {max})")]);
            lines.push(line.chain([p75, p99, p995]).collect());
        }
    }
    page.table(
        "by path, null device|time (avg)|(min … max)|p75|p99|p995",
        1,
        lines,
    );
}

const IN_RUST: [Named; 3] = [("Rust", STD), ("Rust", SMALLFRY_RUST), ("Rust", RAW)];

fn is_string(case: &Case) -> bool {
    case.data == Data::String
}

/// Shows the rows in Rust beside raw system calls.
fn rust(page: &mut Page, all: &All) {
    let [_, ours, raw] = IN_RUST;
    if IN_RUST.iter().any(|row| !all.has(*row)) {
        return;
    }
    let strings = all.cases.iter().filter(|result| is_string(&result.case));
    let lines = strings.map(|result| {
        let medians = IN_RUST.map(|row| all.p50(result, row));
        let above = medians[1].zip(medians[2]).map(|(ours, raw)| ours - raw);
        let mut line = vec![short(&result.case)];
        line.extend(medians.map(|ns| or_dash(ns, micros)));
        line.push(or_dash(above, |ns| thousands(ns.round() as i64)));
        line.push(text::ratio(all.ratio(result, raw, ours)));
        line
    });
    page.table(
        "Rust, µs a call, medians|std|smallfry|raw|above raw, ns|x raw (95 %)",
        1,
        lines,
    );
}

/// Shows every sample of every row of one case.
fn all_percentiles(page: &mut Page, result: &CaseResult<Case>) {
    let case = short(&result.case);
    let heading = match calls(result) {
        1 => format!("µs: {case}"),
        calls => format!("µs: {case} ({calls} calls a sample)"),
    };
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
    let names = Percentiles::TABLE.map(|(name, _)| name).join("|");
    let headings = format!("{heading}||{names} ms|Iterations|user ms|sys ms");
    page.table(&headings, 2, lines);
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
        page.noise("node:fs", all.mean(|_| true, baseline, itself), rounds);
    }
    if !all.has(baseline) || !all.has(ours) {
        return;
    }
    for (group, holds) in GROUPS {
        let against = |than| Some(verdict(all.mean(holds, than, ours)?));
        if let (Some(node), Some(before)) = (against(baseline), against(before)) {
            let count = all.count(holds);
            page.say(format!(
                "{group}: smallfry against node:fs {node}, against before {before}; geometric means of \
                 {count} cases."
            ));
        }
        lost(page, all, group, holds, [baseline, itself, ours]);
    }
}

/// Lists the cases whose interval reaches below [`LOST`], with what the baseline against itself did
/// there.
fn lost(
    page: &mut Page,
    all: &All,
    group: &str,
    holds: fn(&Case) -> bool,
    [baseline, itself, ours]: [Named; 3],
) {
    let reaches = |ratio: &Interval| ratio.low < LOST;
    let (mut lost, mut itself_lost, count) = (Vec::new(), 0, all.count(holds));
    for result in all.cases.iter().filter(|result| holds(&result.case)) {
        let itself = all.ratio(result, baseline, itself);
        itself_lost += usize::from(itself.as_ref().is_some_and(reaches));
        if let Some(ratio) = all.ratio(result, baseline, ours).filter(reaches) {
            lost.push((ratio, itself, result));
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
    for (ratio, itself, result) in lost.iter().take(MAX_LOST) {
        let kind = if ratio.high < 1.0 { "LOSES " } else { "unsure" };
        let (ratio, itself) = (text::ratio(Some(*ratio)), text::ratio(*itself));
        let case = short(&result.case);
        page.detail(format!("{kind} {ratio}, itself {itself}: {case}"));
    }
    if let Some(more) = lost.len().checked_sub(MAX_LOST).filter(|more| *more > 0) {
        page.detail(format!("and {more} more; --json FILE holds all"));
    }
}

fn rust_summary(page: &mut Page, all: &All) {
    let [std, ours, raw] = IN_RUST;
    if !all.has(std) || !all.has(ours) {
        return;
    }
    page.about("write-string, Rust");
    if let Some(mean) = all.mean(|_| true, std, ours) {
        let verdict = verdict(mean);
        page.say(format!("smallfry against std: {verdict}, geometric mean."));
    }
    if !all.has(raw) {
        return;
    }
    let is_near = |result: &&CaseResult<Case>| {
        let medians = all.p50(result, ours).zip(all.p50(result, raw));
        medians.is_some_and(|(ours, raw)| ours - raw <= 50.0_f64.max(0.05 * raw))
    };
    let strings = all.cases.iter().filter(|result| is_string(&result.case));
    let reached = strings.filter(is_near).count();
    let count = all.count(is_string);
    page.say(format!(
        "smallfry's median is within 5 % or 50 ns of raw system calls in {reached} of {count} cases."
    ));
}
