//! The scenario `build` as a waterfall, a table of phases, a table of ratios, and sentences.

use super::{Sentences, text, verdict};
use crate::bench::scenario::build::{
    AGAIN, BUT_PUBLISH, NODE_PARALLEL, NODE_SYNC, PHASES, Results, SMALLFRY_PARALLEL,
    SMALLFRY_RUST, SMALLFRY_SYNC, STD,
};
use crate::bench::session::Session;
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::percentiles::median;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let view = View {
        results,
        seed: session.arguments.seed,
    };
    heading(out, results);
    waterfall(out, &view);
    phases(out, &view);
    ratios(out, &view);
    sentences(said, session, &view);
}

/// The results, and the arithmetic that every part of the report needs.
struct View<'a> {
    results: &'a Results,
    seed: u64,
}

impl View<'_> {
    fn median(&self, row: usize, phase: Option<&str>) -> Option<f64> {
        median(self.results.times(row, phase).into_iter().flatten())
    }

    /// How many times as fast as `baseline` the row is.
    fn ratio(&self, baseline: usize, row: usize, phase: Option<&str>) -> Option<Interval> {
        bootstrap::ratio(
            &self.results.times(baseline, phase),
            &self.results.times(row, phase),
            self.seed,
        )
    }

    /// The row of that name in the runtime of that name.
    fn find(&self, runtime: &str, implementation: &str) -> Option<usize> {
        self.results
            .rows
            .iter()
            .position(|row| row.implementation == implementation && row.runtime.name() == runtime)
    }

    /// What a row is compared with: its own Node's idiom, for Rust the first Node's or else std.
    fn baseline(&self, row: usize, idiom: &str) -> Option<usize> {
        let runtime = &self.results.rows[row].runtime;
        let rows = &self.results.rows;
        let same =
            |index: &usize| !runtime.is_node() || rows[*index].runtime.name() == runtime.name();
        (0..rows.len())
            .filter(|index| rows[*index].implementation == idiom)
            .find(same)
    }

    /// A typical value of something counted per run.
    fn typical(
        &self,
        row: usize,
        of: impl Fn(&crate::bench::runtime::protocol::Usage) -> u64,
    ) -> Option<f64> {
        median(
            self.results.outcomes[row]
                .runs
                .iter()
                .flatten()
                .map(|run| of(&run.usage) as f64),
        )
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &str)> {
        self.results
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| (index, row.label.as_str()))
    }
}

fn heading(out: &mut String, results: &Results) {
    let Results {
        files,
        found,
        bytes,
        published,
        rounds,
        tree,
        ..
    } = results;
    let of = if files < found {
        format!(
            " (of {}, the first by path)",
            text::thousands(*found as i64)
        )
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "\nbuild: {} source files{of}, {}, from {}\n  read, changed, all written, the first {published} published durably; {rounds} rounds, \
         a fresh process for every run",
        text::thousands(*files as i64),
        text::bytes(*bytes),
        tree.display()
    );
}

fn waterfall(out: &mut String, view: &View) {
    let totals: Vec<Option<f64>> = view.rows().map(|(row, _)| view.median(row, None)).collect();
    let longest = totals.iter().flatten().copied().fold(0.0, f64::max);
    let names = view
        .rows()
        .map(|(_, label)| label.chars().count())
        .max()
        .unwrap_or(0);
    let room = text::width().saturating_sub(names + 14);
    let _ = writeln!(out, "\n  {:<names$}  {:>8}  medians, to scale", "", "ms");
    for (row, label) in view.rows() {
        if let Some(error) = &view.results.outcomes[row].error {
            let _ = writeln!(out, "  {label:<names$}  {:>8}  {error}", "failed");
            continue;
        }
        let Some(total) = totals[row] else { continue };
        let parts: Vec<(&str, f64)> = PHASES
            .iter()
            .map(|phase| (*phase, view.median(row, Some(phase)).unwrap_or(0.0)))
            .collect();
        let whole: f64 = parts.iter().map(|(_, ns)| ns).sum();
        let cells = (room as f64 * total / longest).round() as usize;
        let _ = writeln!(
            out,
            "  {label:<names$}  {:>8}  {}",
            text::millis(total),
            text::segments(&parts, whole, cells)
        );
    }
}

fn phases(out: &mut String, view: &View) {
    let mut headings = vec!["ms, medians"];
    headings.extend(PHASES);
    let mut table = text::table(&headings, 1);
    for (row, label) in view.rows() {
        let mut line = vec![label.to_owned()];
        line.extend(PHASES.map(|phase| {
            view.median(row, Some(phase))
                .map_or_else(|| "-".to_owned(), text::millis)
        }));
        table.add_row(line);
    }
    text::put(out, &table);
    let note = "Walking, transforming and the flushes and rename of publish run the plain way in every row: smallfry \
                does not do them yet. Closing is inside write+close: whole-file functions close before they return.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
}

fn ratios(out: &mut String, view: &View) {
    let mut table = text::table(
        &[
            "whole pipeline",
            "x Node sync (95 %)",
            "x Promise.all (95 %)",
            "user ms",
            "sys ms",
            "peak MiB",
        ],
        1,
    );
    for (row, label) in view.rows() {
        let against = |idiom| {
            let baseline = view
                .baseline(row, idiom)
                .filter(|baseline| *baseline != row);
            text::ratio(baseline.and_then(|baseline| view.ratio(baseline, row, None)))
        };
        let number = |value: Option<f64>, unit: f64| {
            value.map_or_else(|| "-".to_owned(), |value| text::number(value / unit))
        };
        table.add_row(vec![
            label.to_owned(),
            against(NODE_SYNC),
            against(NODE_PARALLEL),
            number(view.typical(row, |usage| usage.user_ns), 1e6),
            number(view.typical(row, |usage| usage.sys_ns), 1e6),
            number(view.typical(row, |usage| usage.peak_kib), 1024.0),
        ]);
    }
    text::put(out, &table);
}

/// The costs that smallfry is about, by phase, in words.
const COSTS: [(&str, &str); 5] = [
    ("type", "asking module types"),
    ("read", "reading all"),
    ("write+close", "writing and closing all"),
    (BUT_PUBLISH, "all that together"),
    ("publish", "publishing durably"),
];

fn sentences(said: &mut Sentences, session: &Session, view: &View) {
    for node in &session.nodes {
        let name = node.runtime.name();
        said.about(format!("build, Node {name}"));
        if let (Some(baseline), Some(again)) = (view.find(name, NODE_SYNC), view.find(name, AGAIN))
        {
            said.noise(
                view.ratio(baseline, again, Some(BUT_PUBLISH)),
                view.results.rounds,
            );
            if let Some(interval) = view.ratio(baseline, again, Some("publish")) {
                said.say(format!(
                    "noise of publishing, which waits for the device: {}.",
                    text::ratio(Some(interval))
                ));
            }
        }
        costs(
            said,
            view,
            name,
            &[
                (NODE_SYNC, SMALLFRY_SYNC),
                (NODE_PARALLEL, SMALLFRY_PARALLEL),
            ],
        );
        if let (Some(sync), Some(parallel)) =
            (view.find(name, NODE_SYNC), view.find(name, NODE_PARALLEL))
        {
            reversal(said, view, sync, parallel);
        }
        if let Some(package) = &node.package {
            let load = text::duration(package.load_ns as f64);
            said.say(format!(
                "loading smallfry costs a process {load} once; that is not in these figures."
            ));
        }
    }
    said.about("build, Rust".to_owned());
    costs(said, view, "Rust", &[(STD, SMALLFRY_RUST)]);
}

/// One sentence a cost, then one for the whole: what the idioms take, and how smallfry's counterpart of each compares.
fn costs(said: &mut Sentences, view: &View, runtime: &str, pairs: &[(&str, &str)]) {
    let whole = [(None, "the whole pipeline")];
    for (phase, words) in COSTS
        .map(|(phase, words)| (Some(phase), words))
        .into_iter()
        .chain(whole)
    {
        let mut idioms = Vec::new();
        let mut verdicts = Vec::new();
        for (idiom, ours) in pairs {
            let Some(baseline) = view.find(runtime, idiom) else {
                continue;
            };
            if let Some(ns) = view.median(baseline, phase) {
                idioms.push(format!("{idiom} {}", text::duration(ns)));
            }
            if let Some(ratio) = view
                .find(runtime, ours)
                .and_then(|row| view.ratio(baseline, row, phase))
            {
                verdicts.push(format!("{ours} {}", verdict(ratio)));
            }
        }
        if !verdicts.is_empty() {
            said.say(format!(
                "{words}: {}; {}.",
                idioms.join(", "),
                verdicts.join(", ")
            ));
        }
    }
}

/// Where calling one after another and `Promise.all` each win.
fn reversal(said: &mut Sentences, view: &View, sync: usize, parallel: usize) {
    let mut sides: [Vec<String>; 2] = Default::default();
    for phase in ["read", "write+close", "publish"] {
        let Some(interval) = view
            .ratio(sync, parallel, Some(phase))
            .filter(|interval| !interval.holds_one())
        else {
            continue;
        };
        let Interval {
            low,
            estimate,
            high,
        } = interval;
        if estimate > 1.0 {
            sides[1].push(format!("{phase} {estimate:.2}x ({low:.2}-{high:.2})"));
        } else {
            sides[0].push(format!(
                "{phase} {:.2}x ({:.2}-{:.2})",
                1.0 / estimate,
                1.0 / high,
                1.0 / low
            ));
        }
    }
    let side = |name: &str, phases: &[String]| match phases {
        [] => format!("{name} nowhere"),
        phases => format!("{name} at {}", phases.join(", ")),
    };
    said.say(format!(
        "which idiom to choose: on this disk, with a warm cache, {}; {}.",
        side("Node sync wins", &sides[0]),
        side("Node Promise.all wins", &sides[1])
    ));
}
