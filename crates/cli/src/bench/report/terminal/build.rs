//! The scenario `build` as a waterfall, a table of phases, a table of ratios, and sentences.

use super::runs::{Named, Runs, View};
use super::{Sentences, text};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::Usage;
use crate::bench::scenario::build::{BUT_PUBLISH, PHASES, Results, WRITE_AND_CLOSE};
use crate::bench::scenario::rows::{
    BULK, BULK_JVM, BULK_RUST, BULK_SYNC, JAVA_FILES, NODE_PARALLEL, NODE_SYNC, SMALLFRY_PARALLEL,
    SMALLFRY_RUST, SMALLFRY_SYNC, STD, SYNC_AGAIN,
};
use crate::bench::session::Session;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let view = View {
        results,
        seed: session.arguments.seed,
    };
    heading(out, session, results);
    waterfall(out, &view);
    phases(out, Some(session), &view);
    ratios(out, &view);
    sentences(said, session, &view);
}

impl Runs for Results {
    type Part = Option<&'static str>;

    fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn times(&self, row: usize, phase: Self::Part) -> Vec<Option<f64>> {
        self.phase_times(row, phase)
    }

    /// Of all phases: they are not told apart.
    fn usages(&self, row: usize, _: Self::Part) -> Vec<Usage> {
        let runs = self.outcomes[row].runs.iter().flatten();
        runs.map(|run| run.usage).collect()
    }
}

fn heading(out: &mut String, session: &Session, results: &Results) {
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
    let cache = cache(results);
    let title = format!(
        "build on {}: {} source files{of}, {}, from {}",
        session.disk_words(),
        text::thousands(*files as i64),
        text::bytes(*bytes),
        tree.display()
    );
    let what = format!(
        "read, changed, all written, the first {published} published durably; {rounds} rounds, a fresh process for every run; \
         {cache}"
    );
    let _ = writeln!(out, "\n{title}\n{}", text::wrap("  ", &what, text::width()));
}

/// What is known of the sources' being in the kernel's cache.
fn cache(results: &Results) -> String {
    match results.cached {
        Some(part) => format!("{:.0} % of a sample of the sources cached", part * 100.0),
        None => "sources read before, whether cached not checked".to_owned(),
    }
}

fn waterfall(out: &mut String, view: &View<Results>) {
    let totals: Vec<Option<f64>> = view
        .labels()
        .map(|(row, _)| view.median(row, None))
        .collect();
    let longest = totals.iter().flatten().copied().fold(0.0, f64::max);
    let names = view
        .labels()
        .map(|(_, label)| label.chars().count())
        .max()
        .unwrap_or(0);
    let room = text::width().saturating_sub(names + 14);
    let _ = writeln!(out, "\n  {:<names$}  {:>8}  medians, to scale", "", "ms");
    for (row, label) in view.labels() {
        if let Some(error) = &view.results.outcomes[row].error {
            let _ = writeln!(out, "  {label:<names$}  {:>8}  {error}", "failed");
            continue;
        }
        let Some(total) = totals[row] else { continue };
        let parts: Vec<(&str, f64)> = PHASES
            .iter()
            .filter_map(|phase| Some((*phase, view.median(row, Some(phase))?)))
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

const NOTES: [&str; 3] = [
    "Walking and transforming run the plain way in every row: smallfry does not do them.",
    "Publishing makes each file whole or not at all, and durable: std, Node sync and the rows of smallfry that call it for each \
     file wait for the disk file by file; Promise.all for all files together, then for each directory; smallfry's bulk rows have one \
     barrier for all.",
    "Where close shows -, closing is inside write: functions for whole files do not tell it apart.",
];

fn phases(out: &mut String, session: Option<&Session>, view: &View<Results>) {
    let mut headings = vec!["ms, medians"];
    headings.extend(PHASES);
    let mut table = text::table(&headings, 1);
    for (row, label) in view.labels() {
        let mut line = vec![label.to_owned()];
        line.extend(PHASES.map(|phase| view.median_cell(row, Some(phase))));
        table.add_row(line);
    }
    text::put(out, &table);
    for note in NOTES {
        let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    }
    for node in session.map_or(&[][..], |session| &session.nodes) {
        if node
            .package
            .as_ref()
            .is_some_and(|package| !package.durable)
        {
            let note = format!(
                "On {} all rows publish the plain way: this package of smallfry takes no option `durability`.",
                node.runtime.name()
            );
            let _ = writeln!(out, "{}", text::wrap("  ", &note, text::width()));
        }
    }
}

fn ratios(out: &mut String, view: &View<Results>) {
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
    for (row, label) in view.labels() {
        let mut line = vec![label.to_owned()];
        line.extend(view.ratio_cells(row, None, [NODE_SYNC, NODE_PARALLEL]));
        line.extend(view.usage_cells(row, None));
        table.add_row(line);
    }
    text::put(out, &table);
}

/// The costs that smallfry is about, by phase, in words.
const COSTS: [Named<Option<&str>>; 7] = [
    (Some("type"), "asking module types"),
    (Some("read"), "reading all"),
    (Some(WRITE_AND_CLOSE), "writing and closing all"),
    (Some("close"), "of that, closing"),
    (Some(BUT_PUBLISH), "all that together"),
    (Some("publish"), "publishing durably"),
    (None, "the whole pipeline"),
];

/// Those in which the idioms differ.
const CHOICES: [Named<Option<&str>>; 3] = [
    (Some("read"), "read"),
    (Some(WRITE_AND_CLOSE), WRITE_AND_CLOSE),
    (Some("publish"), "publish"),
];

fn sentences(said: &mut Sentences, session: &Session, view: &View<Results>) {
    for node in &session.nodes {
        let name = node.runtime.name();
        said.about(format!("build, Node {name}"));
        if let (Some(baseline), Some(again)) =
            (view.find(name, NODE_SYNC), view.find(name, SYNC_AGAIN))
        {
            said.noise(
                "node:fs",
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
        view.costs(
            said,
            name,
            &COSTS,
            &[
                (NODE_SYNC, SMALLFRY_SYNC),
                (NODE_SYNC, BULK_SYNC),
                (NODE_PARALLEL, SMALLFRY_PARALLEL),
                (NODE_PARALLEL, BULK),
            ],
        );
        if let (Some(sync), Some(parallel)) =
            (view.find(name, NODE_SYNC), view.find(name, NODE_PARALLEL))
        {
            let disk = format!("{} ({})", session.disk_words(), cache(view.results));
            view.reversal(said, &disk, [sync, parallel], &CHOICES);
        }
        if let Some(package) = &node.package {
            let load = text::duration(package.load_ns as f64);
            said.say(format!(
                "loading smallfry costs a process {load} once; that is not in these figures."
            ));
        }
    }
    said.about("build, Rust".to_owned());
    view.costs(
        said,
        "Rust",
        &COSTS,
        &[(STD, SMALLFRY_RUST), (STD, BULK_RUST)],
    );
    if let Some(java) = &session.jvm {
        said.about(format!("build, {}", java.name()));
        view.costs(said, java.name(), &COSTS, &[(JAVA_FILES, BULK_JVM)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::runtime::protocol::{BuildTimes, Functions, Style};
    use crate::bench::scenario::build::RowResult;
    use std::path::PathBuf;

    /// A row that tells closing apart, and one that cannot, both with the same sum.
    fn results() -> Results {
        let row = |name| Session::native_row(Functions::Std, name, Style::Sync);
        let rows = vec![row("apart"), row("inside")];
        let times: [&[(&str, u64)]; 2] = [
            &[
                ("write", 6_000_000),
                ("close", 2_000_000),
                ("publish", 1_000_000),
            ],
            &[("write", 8_000_000), ("publish", 1_000_000)],
        ];
        let mut outcomes = RowResult::for_each(&rows);
        for (outcome, phases) in outcomes.iter_mut().zip(times) {
            let run = BuildTimes {
                phases: phases
                    .iter()
                    .map(|(name, ns)| ((*name).to_owned(), *ns))
                    .collect(),
                files: 1,
                bytes: 1,
                usage: Usage::default(),
            };
            outcome.record(Ok(run), Some(0));
        }
        Results {
            rows,
            outcomes,
            tree: PathBuf::new(),
            found: 1,
            files: 1,
            bytes: 1,
            published: 1,
            rounds: 1,
            cached: None,
        }
    }

    #[test]
    fn a_row_that_closes_inside_write_has_no_figure_for_closing() {
        let results = results();
        let view = View {
            results: &results,
            seed: 0,
        };
        assert_eq!(view.median(1, Some("close")), None);
        for part in [Some(WRITE_AND_CLOSE), Some(BUT_PUBLISH), None] {
            assert_eq!(view.median(0, part), view.median(1, part), "{part:?}");
        }

        let mut out = String::new();
        waterfall(&mut out, &view);
        let line = |name: &str| out.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("apart").contains("▕close"), "{out}");
        assert!(!line("inside").contains("close"), "{out}");

        let mut out = String::new();
        phases(&mut out, None, &view);
        let cells = |name: &str| -> Vec<&str> {
            let line = out.lines().find(|line| line.trim_start().starts_with(name));
            line.unwrap().split_whitespace().collect()
        };
        assert_eq!(cells("apart")[5..], ["6.00", "2.00", "1.00"]);
        assert_eq!(cells("inside")[5..], ["8.00", "-", "1.00"]);
        assert!(out.contains("Where close shows -"), "{out}");
    }
}
