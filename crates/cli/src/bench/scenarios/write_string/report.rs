//! Both tables of the reference in their forms, medians and ratios per case, percentiles, geometric
//! means and the cases that lose.

use super::super::prelude::*;
use super::case::{
    BEFORE, Case, NODE, NODE_AA, SMALLFRY, SMALLFRY_RUST, STD, call_ns, calls, percentiles, rate,
};
use crate::bench::report::screens;
use crate::bench::runtime::protocol::Usage;
use crate::output::screen::{self, Screen};
use crate::output::text::micros;
use crate::stats::claim::{Claim, Noise};
use crate::stats::interval::{self, Interval};
use crate::stats::welch::Welch;

/// A case counts as lost when its interval reaches below this.
const LOST: f64 = 0.97;
/// More cases than this are listed in the JSON file only.
const MAX_LISTED: usize = 24;
/// Nor are more lost ones.
const MAX_LOST: usize = 40;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    let all = All {
        cases: results.cases.iter().collect(),
        rounds: results.rounds,
    };
    let what = format!("{} cases", results.cases.len());
    page.screen(screen(session, &all, &what));
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
    distributions(page, &all);
    let strings = all.only(|case| case.data == Data::String);
    if is_listed && IN_RUST.iter().all(|row| all.has(*row)) {
        let headings = "Rust: µs a call|std|smallfry|raw|above raw, ns|x raw (95 %)";
        medians(page, &strings, headings, &IN_RUST, [2, 1]);
    }
    if is_listed && (session.is_named || session.extent == Extent::All) {
        for result in &all.cases {
            all_percentiles(page, result, &view(result));
        }
    }
    for node in &session.nodes {
        summary(page, &all, node);
    }
    rust_summary(page, &strings);
}

/// A row, by its runtime and name.
type Named<'a> = (&'a str, &'a str);

const IN_RUST: [Named; 3] = [("Rust", STD), ("Rust", SMALLFRY_RUST), ("Rust", RAW)];

fn view(result: &CaseResult<Case>) -> View<'_> {
    View::by(result, |run, _| call_ns(run))
}

fn index_of(result: &CaseResult<Case>, (runtime, name): Named) -> Option<usize> {
    view(result).find(runtime, name)
}

fn ratio_of(result: &CaseResult<Case>, from: Named, to: Named) -> Option<Interval> {
    view(result).ratio(index_of(result, from)?, index_of(result, to)?)
}

fn p50(result: &CaseResult<Case>, named: Named) -> Option<f64> {
    Some(percentiles(result, index_of(result, named)?)?.p50)
}

/// All cases, and the arithmetic that every part of the report needs.
struct All<'a> {
    cases: Vec<&'a CaseResult<Case>>,
    rounds: usize,
}

impl<'a> All<'a> {
    fn only(&self, holds: impl Fn(&Case) -> bool) -> Self {
        let cases = self.cases.iter().copied();
        Self {
            cases: cases.filter(|result| holds(&result.case)).collect(),
            rounds: self.rounds,
        }
    }

    /// Returns those of these cases that are there, with what to call them.
    fn named(&self, names: &[(&str, &'static str)]) -> Vec<(&'a CaseResult<Case>, &'static str)> {
        let find = |(name, shown): &(&str, &'static str)| {
            let mut cases = self.cases.iter().copied();
            Some((cases.find(|result| result.case.short() == *name)?, *shown))
        };
        names.iter().filter_map(find).collect()
    }

    fn has(&self, row: Named) -> bool {
        let mut cases = self.cases.iter();
        cases.any(|result| index_of(result, row).is_some())
    }

    /// Returns the geometric mean over the cases.
    fn mean(&self, from: Named, to: Named) -> Option<Interval> {
        let logs = self.cases.iter().filter_map(|result| {
            let [from, to] = [from, to].map(|row| index_of(result, row));
            let view = view(result);
            let logs = interval::log_ratios(&view.times(from?), &view.times(to?));
            logs.iter().any(Option::is_some).then_some(logs)
        });
        interval::geometric_mean(&logs.collect::<Vec<_>>())
    }

    /// Returns how far a baseline differs from itself over all cases.
    fn noise(&self, (runtime, name): Named) -> Noise {
        let itself = Row::name_once_more(name);
        Noise {
            itself: self.mean((runtime, name), (runtime, &itself)),
            rounds: self.rounds,
        }
    }

    /// Says how the second row compares with the first over all cases.
    fn say_mean(&self, page: &mut Page, what: &str, from: Named, to: Named) {
        if let Some(mean) = self.mean(from, to) {
            let (verdict, count) = (verdict(mean, self.noise(from)), self.cases.len());
            page.say(format!(
                "{what}: {verdict}, geometric mean of {count} cases."
            ));
        }
    }
}

/// Shows one line per case: medians, and how the row `to` compares with the row `from`.
fn medians(page: &mut Page, all: &All, headings: &str, rows: &[Named], [from, to]: [usize; 2]) {
    let ratio = |result: &&_| ratio_of(result, rows[from], rows[to]);
    let ratios: Vec<Option<Interval>> = all.cases.iter().map(ratio).collect();
    let estimates = ratios.iter().flatten().map(|ratio| ratio.estimate);
    let best = estimates.fold(1.0, f64::max);
    let lines = all.cases.iter().zip(ratios).map(|(result, ratio)| {
        let medians: Vec<_> = rows.iter().map(|row| p50(result, *row)).collect();
        let above = medians[to].zip(medians[from]);
        let part = ratio.map_or(0.0, |ratio| ratio.estimate / best);
        let mut line = vec![result.case.short()];
        line.extend(medians.iter().map(|ns| or_dash(*ns, micros)));
        line.push(or_dash(
            above.map(|(ours, baseline)| ours - baseline),
            |ns| thousands(ns.round() as i64),
        ));
        line.push(text::ratio(ratio));
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
    let mut names = nodes.iter().map(|node| node.runtime.name());
    let from = names.next().unwrap_or_default();
    for to in names {
        let heading = format!("node:fs of {to} against {from}");
        comparison(page, all, &heading, (from, NODE), (to, NODE));
        page.about(format!("write-string, {heading}"));
        for (group, on_disk) in GROUPS {
            let of = all.only(|case| case.is_by_path_on_disk() == on_disk);
            of.say_mean(page, group, (from, NODE), (to, NODE));
        }
    }
}

/// The cases in the first table of the reference, and their names in it.
const COMPARED: [(&str, &str); 6] = [
    ("1024 ascii disk overwritten", "by path, 1,024 ascii"),
    ("102400 ascii disk overwritten", "by path, 102,400 ascii"),
    ("1048576 ascii disk overwritten", "by path, 1,048,576 ascii"),
    ("1024 ascii disk fd", "by fd, 1,024 ascii"),
    ("102400 ascii disk fd", "by fd, 102,400 ascii"),
    ("1048576 ascii disk fd", "by fd, 1,048,576 ascii"),
];

/// Shows the first table of the reference: `confidence improvement accuracy`.
fn comparison(page: &mut Page, all: &All, heading: &str, from: Named, to: Named) {
    let cases = all.named(&COMPARED);
    let lines = cases.into_iter().filter_map(|(result, name)| {
        let rates = |row| -> Option<Vec<f64>> {
            let runs = result.outcomes[index_of(result, row)?].done();
            Some(runs.filter_map(rate).collect())
        };
        let welch = Welch::compare(&rates(from)?, &rates(to)?)?;
        let improvement = format!("{:.2} %", welch.improvement);
        let mut line = vec![name.to_owned(), welch.stars().to_owned(), improvement];
        line.extend(welch.accuracy.map(|half| format!("±{half:.2}%")));
        Some(line)
    });
    let headings = format!("{heading}|confidence|improvement|accuracy (*)|(**)|(***)");
    page.table(&headings, lines);
}

/// The cases in the second table of the reference, and their names in it.
const DISTRIBUTIONS: [(&str, &str); 4] = [
    ("12 ascii null path", "12 ascii"),
    ("12 mixed null path", "12 utf8"),
    ("12288 ascii null path", "12288 ascii"),
    ("18432 mixed null path", "18432 utf8"),
];

/// Shows the second table of the reference: `time (avg) (min … max) p75 p99 p995`, by path onto the
/// null device.
fn distributions(page: &mut Page, all: &All) {
    let mut lines = Vec::new();
    for (result, name) in all.named(&DISTRIBUTIONS) {
        for (index, row) in result.rows.iter().enumerate() {
            let (node, of) = (row.runtime.name(), &row.implementation);
            let Some(found) =
                percentiles(result, index).filter(|_| [NODE, SMALLFRY].contains(&&**of))
            else {
                continue;
            };
            let [min, max] = [found.min, found.max].map(text::duration);
            let mut line = vec![format!("{name}, {node} {of}"), text::duration(found.mean)];
            line.push(format!("({min} … {max})"));
            line.extend([found.p75, found.p99, found.p995].map(text::duration));
            lines.push(line);
        }
    }
    let headings = "by path, null device|time (avg)|(min … max)|p75|p99|p995";
    page.table(headings, lines);
}

/// Shows every sample of every row of one case.
fn all_percentiles(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let rows = 0..result.rows.len();
    let rows: Vec<Option<Percentiles>> = rows.map(|row| percentiles(result, row)).collect();
    let medians = rows.iter().flatten().map(|found| found.p50);
    let slowest = medians.fold(f64::MIN_POSITIVE, f64::max);
    let (case, calls) = (result.case.short(), calls(result));
    let names = Percentiles::TABLE.map(|(name, _)| name).join("|");
    let headings = format!("µs: {case}, calls a sample: {calls}|<|{names} ms");
    view.table(
        page,
        &format!("{headings}|Iterations|user ms|sys ms"),
        |row| {
            let Some(found) = &rows[row] else {
                return Vec::new();
            };
            let usage = |of: fn(&Usage) -> u64| {
                let runs = result.outcomes[row].done();
                text::millis(runs.map(|run| of(&run.usage) as f64).sum())
            };
            let mut line = vec![text::bar(found.p50 / slowest, text::bar_cells())];
            line.extend(Percentiles::TABLE.iter().map(|(name, of)| match *name {
                "Total" => text::millis(of(found)),
                _ => micros(of(found)),
            }));
            line.push(thousands(found.iterations as i64));
            line.extend([usage(|usage| usage.user_ns), usage(|usage| usage.sys_ns)]);
            line
        },
    );
}

/// The first screen: what a blocking write of one string gains on the first Node, and in Rust.
fn screen(session: &Session, all: &All, what: &str) -> Screen {
    let mut screen = screens::begin("write-string", what, session, all.rounds);
    let heading = "geometric means, times as fast (95 %)";
    screen.line(&format!(
        "  {:<46} {heading}",
        "One string into one file, blocking"
    ));
    let mut gains = false;
    let mut put = |name: &str, of: &All, from: Named, to: Named| {
        if let Some(mean) = of.mean(from, to) {
            let noise = of.noise(from);
            gains |= to.1 == SMALLFRY && noise.claim(mean) == Claim::Gain;
            let cell = screen::cell(mean, noise);
            screen.line(&format!("    {name:<44} {cell}"));
        }
    };
    let node = session.nodes.first().map_or("", |node| node.runtime.name());
    for (group, on_disk) in GROUPS {
        let of = all.only(|case| case.is_by_path_on_disk() == on_disk);
        put(
            &format!("Node, {group}"),
            &of,
            (node, NODE),
            (node, SMALLFRY),
        );
    }
    let [std, ours, _] = IN_RUST;
    put("Rust, against std", all, std, ours);
    screens::noise(&mut screen, session, NODE, all.noise((node, NODE)));
    if gains {
        screen.fact("Adopt", "node --require smallfry/register build.js");
    }
    screen.fact("More", "--details   --all   --json FILE");
    screen
}

/// Groups of cases: whether they are by path on this disk, in words.
const GROUPS: [(&str, bool); 2] = [
    ("by descriptor, null device and tmpfs", false),
    ("by path on this disk", true),
];

fn summary(page: &mut Page, all: &All, node: &Node) {
    let name = node.runtime.name();
    page.about(format!("write-string, Node {name}"));
    let rows = [NODE, NODE_AA, SMALLFRY].map(|row| (name, row));
    let [baseline, itself, ours] = rows;
    if all.has(baseline) && all.has(itself) {
        page.noise(NODE, all.noise((name, NODE)));
    }
    if !all.has(baseline) || !all.has(ours) {
        return;
    }
    for (group, on_disk) in GROUPS {
        let of = all.only(|case| case.is_by_path_on_disk() == on_disk);
        for than in [NODE, BEFORE] {
            let what = format!("{group}: smallfry against {than}");
            of.say_mean(page, &what, (name, than), ours);
        }
        lost(page, &of, group, rows);
    }
}

/// Lists the cases whose interval reaches below [`LOST`], with what the baseline against itself did
/// there.
fn lost(page: &mut Page, all: &All, group: &str, [baseline, itself, ours]: [Named; 3]) {
    let lost = |row| -> Vec<(Interval, &CaseResult<Case>)> {
        let ratios = all.cases.iter();
        let ratios = ratios.filter_map(|result| Some((ratio_of(result, baseline, row)?, *result)));
        ratios.filter(|(ratio, _)| ratio.low < LOST).collect()
    };
    let (itself_lost, count) = (lost(itself).len(), all.cases.len());
    let mut lost = lost(ours);
    if lost.is_empty() {
        return page.say(format!(
            "{group}: in none of {count} cases does the interval reach below {LOST}."
        ));
    }
    // Losses first, then what is merely not known; the worst on top.
    lost.sort_by(|(a, _), (b, _)| a.low.total_cmp(&b.low));
    lost.sort_by_key(|(ratio, _)| ratio.high >= 1.0);
    let slower = lost.iter().filter(|(ratio, _)| ratio.high < 1.0).count();
    page.warn(format!(
        "{group}: in {} of {count} cases the interval reaches below {LOST} (node:fs against itself: in \
         {itself_lost}); in {slower} smallfry LOSES, in the others this run cannot tell:",
        lost.len()
    ));
    for (ratio, result) in lost.iter().take(MAX_LOST) {
        let kind = if ratio.high < 1.0 { "LOSES " } else { "unsure" };
        let itself = ratio_of(result, baseline, itself);
        let (ratio, itself) = (text::ratio(Some(*ratio)), text::ratio(itself));
        page.detail(format!(
            "{kind} {ratio}, itself {itself}: {}",
            result.case.short()
        ));
    }
    if lost.len() > MAX_LOST {
        let more = lost.len() - MAX_LOST;
        page.detail(format!("and {more} more; --json FILE holds all"));
    }
}

fn rust_summary(page: &mut Page, all: &All) {
    let [std, ours, raw] = IN_RUST;
    if !all.has(std) || !all.has(ours) {
        return;
    }
    page.about("write-string, Rust");
    all.say_mean(page, "smallfry against std", std, ours);
    if !all.has(raw) {
        return;
    }
    let is_near = |result: &&&CaseResult<Case>| {
        let medians = p50(result, ours).zip(p50(result, raw));
        medians.is_some_and(|(ours, raw)| ours - raw <= 50.0_f64.max(0.05 * raw))
    };
    let (reached, count) = (all.cases.iter().filter(is_near).count(), all.cases.len());
    page.say(format!(
        "smallfry's median is within 5 % or 50 ns of raw system calls in {reached} of {count} cases."
    ));
}
