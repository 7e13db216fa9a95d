//! The scenario `package-scope`: a table per case, then sentences. All times are of one look-up.

use super::many::failures;
use super::runs::{Named, Runs, View};
use super::{Sentences, text};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::Usage;
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::package_scope::{
    Case, FIND, FLOOR, FLOOR_BATCH, FLOOR_EACH, INTERNAL, INTERNAL_AGAIN, MAP, NEVER, NEVER_BATCH,
    ON_CHANGE, ON_CHANGE_BATCH, OXC, OXC_ALONE, RUST_NEVER, RUST_NEVER_BATCH, RUST_ON_CHANGE,
    RUST_ON_CHANGE_BATCH, Results, WALK,
};
use crate::bench::session::Session;
use std::fmt::Write as _;

/// Times by the file: passes differ in number.
struct ByFile<'a>(&'a CaseResult<Case>);

impl Runs for ByFile<'_> {
    type Part = ();

    fn rows(&self) -> &[Row] {
        &self.0.rows
    }

    fn times(&self, row: usize, (): ()) -> Vec<Option<f64>> {
        let runs = self.0.outcomes[row].runs.iter();
        runs.map(|run| {
            let run = run.as_ref()?;
            Some(run.usage.wall_ns as f64 / run.files.max(1) as f64)
        })
        .collect()
    }

    fn usages(&self, row: usize, (): ()) -> Vec<Usage> {
        let runs = self.0.outcomes[row].runs.iter().flatten();
        runs.map(|run| run.usage).collect()
    }
}

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let title = format!(
        "package-scope on {}: whether the nearest package.json of each file says `module`; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &title, text::width()));
    for result in &results.cases {
        table(out, session, result);
    }
    failures(out, &results.cases);
    for note in [
        "Node INTERNAL function: what Node itself calls; programs cannot, without the flag --expose-internals.",
        "A batch is one call for all files. In it OnChange looks at each directory once, else at each for every file again.",
    ] {
        let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    }
    for result in &results.cases {
        said.about(format!("package-scope, {}", result.case));
        sentences(said, session, result, results.rounds);
    }
}

fn table(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let Case {
        files,
        directories,
        cold,
        ..
    } = result.case;
    let state = match (cold, &result.not_cold) {
        (true, Some(reason)) => format!("nothing remembered, the kernel's cache warm: {reason}"),
        (true, None) if session.directories.profile().is_some() => {
            "nothing remembered, the kernel's cache dropped".to_owned()
        }
        (true, None) => "nothing remembered, the kernel's cache warm".to_owned(),
        (false, _) => "asked before by the same process".to_owned(),
    };
    let title = format!(
        "{}: {} files, {} directories to look into; {state}; {}",
        result.case,
        text::thousands(files as i64),
        text::thousands(directories as i64),
        session.disk_words()
    );
    let _ = writeln!(out, "\n{}", text::wrap("  ", &title, text::width()));
    let by_file = ByFile(result);
    let view = view(session, &by_file);
    let mut table = text::table(
        &[
            "medians",
            "a file",
            "x INTERNAL / oxc crate",
            "x a Map",
            "of floor",
        ],
        1,
    );
    for (row, label) in view.labels() {
        let of = &result.rows[row];
        let runtime = of.runtime.name();
        let beside = |name: &str| {
            let baseline = view.find(runtime, name).filter(|it| *it != row);
            text::ratio(baseline.and_then(|baseline| view.ratio(baseline, row, ())))
        };
        let is_node = of.runtime.is_node();
        let time = view.median(row, ());
        table.add_row([
            label.to_owned(),
            time.map_or_else(|| "-".to_owned(), text::duration),
            beside(if is_node { INTERNAL } else { OXC }),
            beside(MAP),
            view.distance_cell(row, (), floor(result.case, of)),
        ]);
    }
    text::put(out, &table);
}

fn view<'a, 'b>(session: &Session, by_file: &'a ByFile<'b>) -> View<'a, ByFile<'b>> {
    View {
        results: by_file,
        seed: session.arguments.seed,
    }
}

/// The system calls that the row has to make, if it does not believe what it knows.
fn floor(case: Case, row: &Row) -> &'static str {
    match (case.cold, row.way.style.is_bulk()) {
        (true, _) => FLOOR,
        (false, true) => FLOOR_BATCH,
        (false, false) => FLOOR_EACH,
    }
}

fn sentences(said: &mut Sentences, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let by_file = ByFile(result);
    let view = view(session, &by_file);
    for node in &session.nodes {
        let name = node.runtime.name();
        if let (Some(baseline), Some(again)) =
            (view.find(name, INTERNAL), view.find(name, INTERNAL_AGAIN))
        {
            said.noise(INTERNAL, view.ratio(baseline, again, ()), rounds);
        }
        for theirs in [INTERNAL, FIND, WALK, MAP] {
            let words = format!("a file on {name}");
            let parts: [Named<()>; 1] = [((), &words)];
            let pairs = [NEVER, NEVER_BATCH, ON_CHANGE, ON_CHANGE_BATCH].map(|ours| (theirs, ours));
            view.costs(said, name, &parts, &pairs);
        }
        let words = format!("a file on {name}, one by one and all at once");
        view.costs(said, name, &[((), &words)], &[(NEVER, NEVER_BATCH)]);
    }
    let ours = [
        RUST_NEVER,
        RUST_NEVER_BATCH,
        RUST_ON_CHANGE,
        RUST_ON_CHANGE_BATCH,
    ];
    for theirs in [OXC, OXC_ALONE] {
        let pairs = ours.map(|ours| (theirs, ours));
        view.costs(said, "Rust", &[((), "a file in Rust")], &pairs);
    }
    distance(said, result.case, &view);
}

/// How much longer than the bare system calls.
fn distance(said: &mut Sentences, case: Case, view: &View<ByFile>) {
    let mut of = |floor: &str, names: &[&str]| {
        let Some(bare) = view.find("Rust", floor) else {
            return;
        };
        let mut ours = Vec::new();
        for (row, label) in view.labels() {
            let name = view.results.0.rows[row].implementation.as_str();
            if names.contains(&name)
                && let Some(ratio) = view.ratio(row, bare, ())
            {
                ours.push(format!("{label} {}", text::ratio(Some(ratio))));
            }
        }
        if let Some(takes) = view.median(bare, ()).filter(|_| !ours.is_empty()) {
            said.say(format!(
                "{floor}: {} a file; as long as that take: {}.",
                text::duration(takes),
                ours.join(", ")
            ));
        }
    };
    if case.cold {
        of(
            FLOOR,
            &[
                RUST_NEVER,
                RUST_NEVER_BATCH,
                RUST_ON_CHANGE_BATCH,
                NEVER,
                NEVER_BATCH,
            ],
        );
    } else {
        of(FLOOR_EACH, &[RUST_ON_CHANGE, ON_CHANGE]);
        of(FLOOR_BATCH, &[RUST_ON_CHANGE_BATCH, ON_CHANGE_BATCH]);
    }
}
