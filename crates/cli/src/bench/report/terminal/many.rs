//! What the scenarios of many files share: a table of medians, ratios, processor time and memory per case, then sentences.

use super::runs::{Named, Runs, View};
use super::{Sentences, text, verdict};
use crate::bench::runtime::protocol::{Style, Usage};
use crate::bench::runtime::{Row, Runtime};
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::rows::{
    BULK, BULK_JVM, BULK_RUST, BULK_SYNC, JAVA_FILES, JAVA_PARALLEL, NODE_CALLBACK, NODE_PARALLEL,
    NODE_SYNC, PARALLEL_AGAIN, SMALLFRY_JVM, SMALLFRY_PARALLEL, SMALLFRY_RUST, SMALLFRY_SYNC, STD,
};
use crate::bench::session::Session;
use crate::bench::stats::percentiles::median;
use std::fmt::{Display, Write as _};

/// A case has no parts.
impl<C> Runs for CaseResult<C> {
    type Part = ();

    fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn times(&self, row: usize, (): ()) -> Vec<Option<f64>> {
        let runs = self.outcomes[row].runs.iter();
        runs.map(|run| Some(run.as_ref()?.usage.wall_ns as f64))
            .collect()
    }

    fn usages(&self, row: usize, (): ()) -> Vec<Usage> {
        let runs = self.outcomes[row].runs.iter().flatten();
        runs.map(|run| run.usage).collect()
    }
}

/// Below this a sample of files was not all in the cache.
const ALL_CACHED: f64 = 0.98;

/// The state of the cache that was found, whatever was wanted.
pub(super) fn cache<C>(result: &CaseResult<C>, cold: bool) -> String {
    if let Some(reason) = &result.not_cold {
        return format!("cache warm: {reason}");
    }
    let found = result.outcomes.iter().flat_map(|outcome| &outcome.runs);
    let parts: Vec<f64> = found.flatten().filter_map(|run| run.cached).collect();
    let percent = |part: f64| (part * 100.0).round();
    let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = parts.iter().copied().fold(0.0, f64::max);
    match (parts.is_empty(), cold) {
        (true, _) => "cache warm, not checked".to_owned(),
        (_, true) => format!(
            "cache cold: dropped before every run, at most {} % of a sample of the files left in it",
            percent(most)
        ),
        (_, false) if least >= ALL_CACHED => "cache warm: checked before every run".to_owned(),
        (_, false) => format!(
            "cache not warm: before some run only {} % of a sample of the files was in it",
            percent(least)
        ),
    }
}

/// The case, where it ran, and each row beside both idioms and the floor.
pub(super) fn table<C: Display>(
    out: &mut String,
    session: &Session,
    result: &CaseResult<C>,
    heading: &str,
    floor: &str,
) {
    let view = view(session, result);
    let title = format!("{}: {heading}; {}", result.case, session.disk_words());
    let _ = writeln!(out, "\n{}", text::wrap("  ", &title, text::width()));
    let mut table = text::table(
        &[
            "ms, medians",
            "wall",
            "x Promise.all",
            "x Node sync",
            "of floor",
            "user",
            "sys",
            "peak MiB",
        ],
        1,
    );
    for (row, label) in view.labels() {
        let mut line = vec![label.to_owned(), view.median_cell(row, ())];
        line.extend(view.ratio_cells(row, (), [NODE_PARALLEL, NODE_SYNC]));
        line.push(view.distance_cell(row, (), floor));
        line.extend(view.usage_cells(row, ()));
        table.add_row(line);
    }
    text::put(out, &table);
}

pub(super) fn failures<C: Display>(out: &mut String, results: &[CaseResult<C>]) {
    for CaseResult {
        case,
        rows,
        outcomes,
        ..
    } in results
    {
        for (row, outcome) in rows.iter().zip(outcomes) {
            if let Some(error) = &outcome.error {
                let _ = writeln!(out, "  FAILED  {case}, {}: {error}", row.label);
            }
        }
    }
}

pub(super) fn view<'a, C>(session: &Session, result: &'a CaseResult<C>) -> View<'a, CaseResult<C>> {
    View {
        results: result,
        seed: session.arguments.seed,
    }
}

/// Of one case: the noise, what each idiom costs beside smallfry's counterparts, which idiom wins, how near the floor is, and whether
/// Auto chose well.
pub(super) fn sentences<C>(
    said: &mut Sentences,
    session: &Session,
    result: &CaseResult<C>,
    rounds: usize,
    floor: &str,
) {
    let view = view(session, result);
    for node in &session.nodes {
        let name = node.runtime.name();
        let words = format!("on {name}");
        let parts: [Named<()>; 1] = [((), &words)];
        if let (Some(baseline), Some(again)) = (
            view.find(name, NODE_PARALLEL),
            view.find(name, PARALLEL_AGAIN),
        ) {
            said.noise("node:fs", view.ratio(baseline, again, ()), rounds);
        }
        let pairs = [
            (NODE_SYNC, SMALLFRY_SYNC),
            (NODE_SYNC, BULK_SYNC),
            (NODE_PARALLEL, SMALLFRY_PARALLEL),
            (NODE_PARALLEL, BULK),
        ];
        view.costs(said, name, &parts, &pairs);
        reversal(said, session, &view, name);
    }
    let pairs = [(STD, SMALLFRY_RUST), (STD, BULK_RUST)];
    view.costs(said, "Rust", &[((), "in Rust")], &pairs);
    if let Some(jvm) = &session.jvm {
        let words = format!("on {}", jvm.name());
        let pairs = [
            (JAVA_FILES, SMALLFRY_JVM),
            (JAVA_FILES, BULK_JVM),
            (JAVA_PARALLEL, BULK_JVM),
        ];
        view.costs(said, jvm.name(), &[((), &words)], &pairs);
    }
    strategies(said, &view);
    distance(said, &view, floor);
}

/// One after another or all at once? And smallfry's bulk call, which chooses by itself, beside the winner of the two.
fn reversal<C>(said: &mut Sentences, session: &Session, view: &View<CaseResult<C>>, runtime: &str) {
    let Some(sync) = view.find(runtime, NODE_SYNC) else {
        return;
    };
    let asynchronous = [NODE_CALLBACK, NODE_PARALLEL]
        .into_iter()
        .filter_map(|name| view.find(runtime, name))
        .filter_map(|row| Some((row, view.median(row, ())?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((asynchronous, _)) = asynchronous else {
        return;
    };
    let Some(ratio) = view.ratio(sync, asynchronous, ()) else {
        return;
    };
    let label = |row: usize| view.results.rows[row].implementation.as_str();
    let (winner, outcome) = match ratio {
        ratio if ratio.holds_one() => (
            None,
            format!(
                "neither wins, sync or async ({} against {}: {})",
                label(asynchronous),
                label(sync),
                text::ratio(Some(ratio))
            ),
        ),
        ratio if ratio.estimate > 1.0 => (
            Some(asynchronous),
            format!(
                "async wins: {} is {} as fast as {}",
                label(asynchronous),
                text::ratio(Some(ratio)),
                label(sync)
            ),
        ),
        _ => {
            let ratio = view.ratio(asynchronous, sync, ());
            (
                Some(sync),
                format!(
                    "sync wins: {} is {} as fast as {}",
                    label(sync),
                    text::ratio(ratio),
                    label(asynchronous)
                ),
            )
        }
    };
    let winner = winner.unwrap_or(sync);
    let ours: Vec<String> = [BULK_SYNC, BULK]
        .into_iter()
        .filter_map(|name| Some((name, view.ratio(winner, view.find(runtime, name)?, ())?)))
        .map(|(name, ratio)| format!("{name} {}", verdict(ratio)))
        .collect();
    let ours = if ours.is_empty() {
        String::new()
    } else {
        format!("; against {}: {}", label(winner), ours.join(", "))
    };
    said.say(format!(
        "on {}, {runtime}: {outcome}{ours}.",
        session.disk_words()
    ));
}

/// Auto may be this much slower than the best strategy that could have been named.
const MATCHES: f64 = 0.95;

/// Auto beside the fixed strategy that turned out the best, which nobody knows beforehand.
fn strategies<C>(said: &mut Sentences, view: &View<CaseResult<C>>) {
    let Some(auto) = view.find("Rust", BULK_RUST) else {
        return;
    };
    let is_fixed = |row: &Row| {
        row.way.style == Style::BulkSync
            && matches!(row.runtime, Runtime::Native)
            && row.way.keep
            && row.implementation != BULK_RUST
    };
    let best = (0..view.results.rows.len())
        .filter(|row| is_fixed(&view.results.rows[*row]))
        .filter_map(|row| Some((row, view.median(row, ())?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((best, fastest)), Some(own)) = (best, view.median(auto, ())) else {
        return;
    };
    let Some(ratio) = view.ratio(best, auto, ()) else {
        return;
    };
    let judged = if ratio.low >= MATCHES {
        "it matches the best"
    } else if ratio.high < MATCHES {
        "it is BEHIND the best"
    } else {
        "whether it matches the best this run does not tell"
    };
    said.say(format!(
        "Auto in Rust takes {}, the best strategy of those fixed ({}) {}: Auto is {} as fast, {judged}.",
        text::duration(own),
        view.results.rows[best].implementation,
        text::duration(fastest),
        text::ratio(Some(ratio))
    ));
}

/// What is left to gain beside bare system calls.
fn distance<C>(said: &mut Sentences, view: &View<CaseResult<C>>, floor: &str) {
    let Some(bare) = view.find("Rust", floor) else {
        return;
    };
    let ours: Vec<String> = [SMALLFRY_RUST, BULK_RUST]
        .into_iter()
        .filter_map(|name| Some((name, view.ratio(view.find("Rust", name)?, bare, ())?)))
        .map(|(name, ratio)| format!("{name} {}", text::ratio(Some(ratio))))
        .collect();
    if let Some(takes) = view.median(bare, ()).filter(|_| !ours.is_empty()) {
        said.say(format!(
            "the floor ({floor}) takes {}; as long as that take: {}.",
            text::duration(takes),
            ours.join(", ")
        ));
    }
}

/// The median over the runs of a row of what `of` tells.
pub(super) fn typical<C>(
    result: &CaseResult<C>,
    row: usize,
    of: impl Fn(&crate::bench::runtime::protocol::Times) -> Option<f64>,
) -> Option<f64> {
    median(result.outcomes[row].runs.iter().flatten().filter_map(of))
}
