//! The scenario `read-many`: a table of medians, ratios, processor time and memory per case, then sentences.

use super::runs::{Named, Runs, View};
use super::{Sentences, text};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Data, Usage};
use crate::bench::scenario::read_many::{BYTES, CASES, FLOOR, Results, RowResult};
use crate::bench::scenario::runs::{
    NODE_PARALLEL, NODE_SYNC, PARALLEL_AGAIN, SMALLFRY_PARALLEL, SMALLFRY_RUST, SMALLFRY_SYNC, STD,
};
use crate::bench::session::Session;
use crate::bench::stats::bootstrap;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let view = View {
        results,
        seed: session.arguments.seed,
    };
    let _ = writeln!(
        out,
        "\nread-many: {} files of {} bytes of ASCII, read whole, all kept, every byte looked at\n  \
         cache {}; {} rounds, a fresh process for every run",
        text::thousands(results.files as i64),
        text::thousands(BYTES as i64),
        session.host.cache,
        results.rounds
    );
    for data in CASES {
        table(out, &view, data);
    }
    failures(out, results);
    let note = "The floor: bare open, fstat, read and close into one buffer; it keeps nothing. Rows in Rust are compared with the \
                first Node's.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    sentences(said, session, &view);
}

impl Results {
    fn outcome(&self, row: usize, data: Data) -> Option<&RowResult> {
        let case = self.cases.iter().find(|case| case.data == data)?;
        case.outcomes.get(row)
    }
}

impl Runs for Results {
    type Part = Data;

    fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn times(&self, row: usize, data: Data) -> Vec<Option<f64>> {
        let runs = self.outcome(row, data).map(|outcome| &outcome.runs);
        runs.into_iter()
            .flatten()
            .map(|run| Some(run.as_ref()?.usage.wall_ns as f64))
            .collect()
    }

    fn usages(&self, row: usize, data: Data) -> Vec<Usage> {
        let runs = self.outcome(row, data).map(|outcome| &outcome.runs);
        runs.into_iter()
            .flatten()
            .flatten()
            .map(|run| run.usage)
            .collect()
    }
}

fn table(out: &mut String, view: &View<Results>, data: Data) {
    let heading = format!("ms, medians: as {data}s");
    let mut table = text::table(
        &[
            heading.as_str(),
            "wall",
            "x Promise.all (95 %)",
            "x Node sync (95 %)",
            "user",
            "sys",
            "peak MiB",
        ],
        1,
    );
    for (row, label) in view.labels() {
        let mut line = vec![label.to_owned(), view.median_cell(row, data)];
        line.extend(view.ratio_cells(row, data, [NODE_PARALLEL, NODE_SYNC]));
        line.extend(view.usage_cells(row, data));
        table.add_row(line);
    }
    text::put(out, &table);
}

fn failures(out: &mut String, results: &Results) {
    for case in &results.cases {
        for (row, outcome) in results.rows.iter().zip(&case.outcomes) {
            if let Some(error) = &outcome.error {
                let _ = writeln!(out, "  FAILED  {}, {}: {error}", case.data, row.label);
            }
        }
    }
}

fn sentences(said: &mut Sentences, session: &Session, view: &View<Results>) {
    let words = CASES.map(|data| {
        let files = text::thousands(view.results.files as i64);
        format!("{files} {data}s")
    });
    let parts: Vec<Named<Data>> = CASES
        .into_iter()
        .zip(words.iter().map(String::as_str))
        .collect();
    for node in &session.nodes {
        let name = node.runtime.name();
        said.about(format!("read-many, Node {name}"));
        noise(said, view, name);
        let pairs = [
            (NODE_SYNC, SMALLFRY_SYNC),
            (NODE_PARALLEL, SMALLFRY_PARALLEL),
        ];
        view.costs(said, name, &parts, &pairs);
        if let (Some(sync), Some(parallel)) =
            (view.find(name, NODE_SYNC), view.find(name, NODE_PARALLEL))
        {
            view.reversal(said, [sync, parallel], &parts);
        }
    }
    said.about("read-many, Rust".to_owned());
    view.costs(said, "Rust", &parts, &[(STD, SMALLFRY_RUST)]);
    floor(said, view, &parts);
}

/// Of both cases together.
fn noise(said: &mut Sentences, view: &View<Results>, runtime: &str) {
    let (Some(baseline), Some(again)) = (
        view.find(runtime, NODE_PARALLEL),
        view.find(runtime, PARALLEL_AGAIN),
    ) else {
        return;
    };
    let logs = CASES.map(|data| {
        let [baseline, again] = [baseline, again].map(|row| view.results.times(row, data));
        bootstrap::log_ratios(&baseline, &again)
    });
    let interval = bootstrap::geometric_mean(&logs, view.seed);
    said.noise(interval, view.results.rounds);
}

/// What keeping and decoding cost, beyond what the system takes.
fn floor(said: &mut Sentences, view: &View<Results>, parts: &[Named<Data>]) {
    let [Some(floor), Some(ours)] = [FLOOR, SMALLFRY_RUST].map(|row| view.find("Rust", row)) else {
        return;
    };
    for (data, words) in parts {
        if let (Some(bare), Some(ratio)) =
            (view.median(floor, *data), view.ratio(ours, floor, *data))
        {
            said.say(format!(
                "{words}: the floor, which keeps nothing, takes {}; smallfry in Rust takes {} as long.",
                text::duration(bare),
                text::ratio(Some(ratio))
            ));
        }
    }
}
