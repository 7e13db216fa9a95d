//! The report of reading and writing many files: a table of the idioms and smallfry's counterparts
//! per case, then sentences.

use super::rows::{
    BULK, BULK_JVM, BULK_RUST, BULK_SYNC, JAVA_FILES, JAVA_PARALLEL, NODE_CALLBACK, NODE_PARALLEL,
    NODE_SYNC, PARALLEL_AA, SMALLFRY_JVM, SMALLFRY_PARALLEL, SMALLFRY_RUST, SMALLFRY_SYNC, STD,
};
use crate::bench::report::page::{Page, verdict};
use crate::bench::report::text;
use crate::bench::report::view::View;
use crate::bench::results::CaseResult;
use crate::bench::runtime::Kind;
use crate::bench::runtime::protocol::Style;
use crate::bench::session::Session;
use std::fmt::Display;

/// Shows each row beside both idioms and the row `raw`.
pub(crate) fn table<C: Display>(
    page: &mut Page,
    session: &Session,
    result: &CaseResult<C>,
    heading: &str,
    raw: &str,
) {
    let view = View::of(session, result);
    let disk = session.disk_words();
    page.heading(&format!("{}: {heading}; {disk}", result.case));
    let lines = view.labels().map(|(row, label)| {
        let mut line = vec![label.to_owned(), view.median_cell(row)];
        line.extend(view.ratio_cells(row, [NODE_PARALLEL, NODE_SYNC]));
        line.push(view.distance_cell(row, raw));
        line.extend(view.usage_cells(row));
        line
    });
    page.table(
        "ms, medians|wall|x Promise.all|x Node sync|of raw|user|sys|peak MiB",
        1,
        lines,
    );
}

/// Says of one case: the noise, what each idiom costs beside smallfry's counterparts, which idiom
/// wins, how near raw system calls are, and whether Auto chose well.
pub(crate) fn sentences<C>(
    page: &mut Page,
    session: &Session,
    result: &CaseResult<C>,
    rounds: usize,
    raw: &str,
) {
    let view = View::of(session, result);
    for node in &session.nodes {
        let name = node.runtime.name();
        view.noise(page, name, [NODE_PARALLEL, PARALLEL_AA], "node:fs", rounds);
        view.costs(page, name, &format!("on {name}"), &ON_NODE);
        winner(page, session, &view, name);
    }
    let pairs = [(STD, SMALLFRY_RUST), (STD, BULK_RUST)];
    view.costs(page, "Rust", "in Rust", &pairs);
    if let Some(jvm) = &session.jvm {
        let name = jvm.name();
        let pairs = [
            (JAVA_FILES, SMALLFRY_JVM),
            (JAVA_FILES, BULK_JVM),
            (JAVA_PARALLEL, BULK_JVM),
        ];
        view.costs(page, name, &format!("on {name}"), &pairs);
    }
    strategies(page, &view);
    distance(page, &view, raw);
}

/// Each idiom, and smallfry's counterpart.
pub(crate) const ON_NODE: [(&str, &str); 4] = [
    (NODE_SYNC, SMALLFRY_SYNC),
    (NODE_SYNC, BULK_SYNC),
    (NODE_PARALLEL, SMALLFRY_PARALLEL),
    (NODE_PARALLEL, BULK),
];

/// Says whether calling one after another or all at once wins, and how smallfry's bulk call, which
/// chooses by itself, compares with the winner.
fn winner(page: &mut Page, session: &Session, view: &View, runtime: &str) {
    let Some(sync) = view.find(runtime, NODE_SYNC) else {
        return;
    };
    let is_async = [NODE_CALLBACK, NODE_PARALLEL].map(|name| view.find(runtime, name));
    let fastest = view.fastest(|row, _| is_async.contains(&Some(row)));
    let Some((asynchronous, _)) = fastest else {
        return;
    };
    let Some(ratio) = view.ratio(sync, asynchronous) else {
        return;
    };
    let label = |row: usize| view.rows[row].implementation.as_str();
    let shown = text::ratio(Some(ratio));
    let (winner, outcome) = if ratio.holds_one() {
        let (one, other) = (label(asynchronous), label(sync));
        let outcome = format!("neither wins, sync or async ({one} against {other}: {shown})");
        (sync, outcome)
    } else if ratio.estimate > 1.0 {
        let (one, other) = (label(asynchronous), label(sync));
        let outcome = format!("async wins: {one} is {shown} as fast as {other}");
        (asynchronous, outcome)
    } else {
        let (one, other) = (label(sync), label(asynchronous));
        let shown = text::ratio(view.ratio(asynchronous, sync));
        (
            sync,
            format!("sync wins: {one} is {shown} as fast as {other}"),
        )
    };
    let ours = [BULK_SYNC, BULK].map(|name| {
        let ratio = view.ratio(winner, view.find(runtime, name)?)?;
        Some(format!("{name} {}", verdict(ratio)))
    });
    let ours: Vec<String> = ours.into_iter().flatten().collect();
    let ours = if ours.is_empty() {
        String::new()
    } else {
        format!("; against {}: {}", label(winner), ours.join(", "))
    };
    let disk = session.disk_words();
    page.say(format!("on {disk}, {runtime}: {outcome}{ours}."));
}

/// Auto may be this much slower than the best strategy that could have been named.
const MATCHES: f64 = 0.95;

/// Compares Auto with the fixed strategy that turned out the best, which is not known beforehand.
fn strategies(page: &mut Page, view: &View) {
    let Some(auto) = view.find("Rust", BULK_RUST) else {
        return;
    };
    let best = view.fastest(|index, row| {
        let is_native = row.runtime.kind == Kind::Native;
        is_native && row.way.style == Style::BulkSync && row.way.keep && index != auto
    });
    let (Some((best, fastest)), Some(own)) = (best, view.median(auto)) else {
        return;
    };
    let Some(ratio) = view.ratio(best, auto) else {
        return;
    };
    let judged = if ratio.low >= MATCHES {
        "it matches the best"
    } else if ratio.high < MATCHES {
        "it is BEHIND the best"
    } else {
        "whether it matches the best this run does not tell"
    };
    let (own, fastest) = (text::duration(own), text::duration(fastest));
    page.say(format!(
        "Auto in Rust takes {own}, the best strategy of those fixed ({}) {fastest}: Auto is {} as \
         fast, {judged}.",
        view.rows[best].implementation,
        text::ratio(Some(ratio))
    ));
}

/// Says what is left to gain beside raw system calls.
fn distance(page: &mut Page, view: &View, raw: &str) {
    let names = [SMALLFRY_RUST, BULK_RUST].map(|name| (view.find("Rust", name), name));
    let rows = names
        .into_iter()
        .filter_map(|(row, name)| Some((row?, name)));
    beside_raw(page, view, raw, "", rows);
}

/// Says how long each row takes compared with the row of raw system calls.
pub(crate) fn beside_raw<'a>(
    page: &mut Page,
    view: &View,
    raw: &str,
    unit: &str,
    rows: impl Iterator<Item = (usize, &'a str)>,
) {
    let Some(bare) = view.find("Rust", raw) else {
        return;
    };
    let ours: Vec<String> = rows
        .filter_map(|(row, name)| Some((name, view.ratio(row, bare)?)))
        .map(|(name, ratio)| format!("{name} {}", text::ratio(Some(ratio))))
        .collect();
    if let Some(takes) = view.median(bare).filter(|_| !ours.is_empty()) {
        let (takes, ours) = (text::duration(takes), ours.join(", "));
        page.say(format!(
            "{raw}: {takes}{unit}; as long as that take: {ours}."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::fixed;
    use super::*;
    use crate::bench::runtime::Row;
    use crate::bench::runtime::protocol::{Functions, Threads};

    #[test]
    fn auto_is_compared_with_the_best_fixed_strategy() {
        let four = fixed(Threads::Fixed(4.try_into().unwrap()));
        let names = [BULK_RUST, &fixed(Threads::CallingThread), &four];
        let row = |name| Row::native(Functions::Smallfry, name, Style::BulkSync);
        let result = CaseResult::of_millis("case", names.map(row).to_vec(), &[2, 9, 2]);
        let mut page = Page::default();
        strategies(
            &mut page,
            &View::by(1, &result, |run, _| Some(run.usage.wall_ns as f64)),
        );
        let said = page
            .finish()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let expected = "Auto in Rust takes 2.00 ms, the best strategy of those fixed (bulk Rust, 4 \
                        threads) 2.00 ms: Auto is 1.00x (1.00-1.00) as fast, it matches the best.";
        assert!(said.contains(expected), "{said}");
    }
}
