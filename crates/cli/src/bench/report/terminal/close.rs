//! The scenario `close`: a table per case, then sentences.

use super::many::{self, typical};
use super::runs::View;
use super::{Sentences, text};
use crate::bench::runtime::protocol::Peaks;
use crate::bench::scenario::close::{Case, Results, Work};
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::rows::{self, DESIGN, DESIGN_UNBOUNDED, PLAIN, PLAIN_AGAIN};
use crate::bench::session::Session;
use smallfry_bench_closing::{Backend, Policy, Way};
use std::fmt::Write as _;

/// Where deferring gains nothing, Auto may differ from plain close by this much.
const SAME: f64 = 0.05;

/// What one process may hold open for closing later.
const MAX_HANDLES: f64 = 512.0;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let title = format!(
        "close on {}: the files of a font's glyphs written until the last is closed, nothing flushed; {} rounds, a fresh process \
         for every run",
        session.disk_words(),
        results.rounds
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &title, text::width()));
    for result in &results.cases {
        heading(out, session, result);
        if result.case.watched {
            peaks(out, result);
        } else {
            times(out, session, result);
        }
    }
    many::failures(out, &results.cases);
    let note = "Columns of ratios: how many times as fast as that row, with 95 % intervals. Handles: open at once, beyond those of a \
                process that does nothing yet; one whose closing has begun is none any more on Linux. close_already's design: written here in a few lines, since the crate itself \
                closes as std does but on Windows.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    for result in &results.cases {
        said.about(format!("close, {}", result.case));
        if result.case.watched {
            max_handles(said, result);
        } else {
            sentences(said, session, result, results.rounds);
        }
    }
}

fn heading(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let work = match result.case.work {
        Work::Write => "one thread writes all",
        Work::Norad => "norad loads the font and saves it, on one thread",
        Work::NoradRayon => {
            "norad with its feature rayon loads the font and saves it, on all cores"
        }
    };
    let watched = if result.case.watched {
        "; watched meanwhile, so not timed"
    } else {
        ""
    };
    let title = format!("{}: {work}{watched}; {}", result.case, session.disk_words());
    let _ = writeln!(out, "\n{}", text::wrap("  ", &title, text::width()));
}

fn times(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let view = many::view(session, result);
    let mut table = text::table(
        &[
            "ms, medians",
            "wall",
            "x std",
            "x close_already's",
            "user",
            "sys",
        ],
        1,
    );
    for (row, label) in view.labels() {
        let mut line = vec![label.to_owned(), view.median_cell(row, ())];
        line.extend(view.ratio_cells(row, (), [PLAIN, DESIGN]));
        // Not the memory: that is the starting process's, which has unpacked the font.
        let [user, sys, _] = view.usage_cells(row, ());
        line.extend([user, sys]);
        table.add_row(line);
    }
    text::put(out, &table);
}

/// The highest of all rounds: a bound that was passed once was passed.
fn peaks(out: &mut String, result: &CaseResult<Case>) {
    let headings = [
        "most of all rounds",
        "handles at most",
        "threads at most",
        "memory, MiB",
    ];
    let mut table = text::table(&headings, 1);
    for (row, of) in result.rows.iter().enumerate() {
        let cell = |of: fn(&Peaks) -> f64, show: fn(f64) -> String| {
            most(result, row, of).map_or_else(|| "-".to_owned(), show)
        };
        table.add_row([
            of.label.clone(),
            cell(|peaks| peaks.handles as f64, count),
            cell(|peaks| peaks.threads as f64, count),
            cell(|peaks| peaks.resident_kib as f64 / 1024.0, text::number),
        ]);
    }
    text::put(out, &table);
}

fn count(value: f64) -> String {
    text::thousands(value as i64)
}

fn most(result: &CaseResult<Case>, row: usize, of: impl Fn(&Peaks) -> f64) -> Option<f64> {
    let runs = result.outcomes[row].runs.iter().flatten();
    runs.filter_map(|run| run.peaks.as_ref().map(&of))
        .max_by(f64::total_cmp)
}

fn max_handles(said: &mut Sentences, result: &CaseResult<Case>) {
    let handles = |row: usize| most(result, row, |peaks| peaks.handles as f64);
    let is_ours = |row: &usize| result.rows[*row].launch.closing.is_some_and(is_ours);
    let (ours, others): (Vec<_>, Vec<_>) = (0..result.rows.len()).partition(is_ours);
    let highest = |rows: Vec<usize>| {
        let known = rows
            .into_iter()
            .filter_map(|row| Some((row, handles(row)?)));
        known.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let words =
        |(row, handles): (usize, f64)| format!("{} ({})", count(handles), result.rows[row].label);
    if let Some((row, handles)) = highest(ours) {
        let judged = if handles <= MAX_HANDLES {
            "never more than"
        } else {
            "MORE than"
        };
        said.say(format!(
            "handles that smallfry held open at once: {}, {judged} {MAX_HANDLES:.0}.",
            words((row, handles))
        ));
    }
    if let Some(highest) = highest(others) {
        said.say(format!(
            "handles that others held open at once: up to {}.",
            words(highest)
        ));
    }
}

const fn is_ours(way: Way) -> bool {
    matches!(way, Way::Smallfry { .. })
}

/// Of one case: the noise, each design beside plain close, smallfry beside the other design, and whether Auto chose well.
fn sentences(said: &mut Sentences, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = many::view(session, result);
    let runtime = result.rows.first().map_or("", |row| row.runtime.name());
    let find = |name: &str| view.find(runtime, name);
    if let (Some(baseline), Some(again)) = (find(PLAIN), find(PLAIN_AGAIN)) {
        said.noise(PLAIN, view.ratio(baseline, again, ()), rounds);
    }
    let own = |policy| {
        rows::closer(Way::Smallfry {
            policy,
            backend: Backend::Threads,
        })
    };
    let (auto, always) = (own(Policy::Auto), own(Policy::Always));
    let pairs = [
        (PLAIN, DESIGN),
        (PLAIN, auto.as_str()),
        (PLAIN, always.as_str()),
    ];
    view.costs(said, runtime, &[((), "beside plain close")], &pairs);
    for (design, words) in [
        (DESIGN, "beside close_already's design"),
        (DESIGN_UNBOUNDED, "beside that design on unbounded threads"),
    ] {
        let pairs = [(design, auto.as_str()), (design, always.as_str())];
        view.costs(said, runtime, &[((), words)], &pairs);
    }
    chose(said, &view, find(PLAIN), find(&auto));
    loading(said, result, find(PLAIN));
}

/// Where nobody gains by deferring, Auto should cost nothing.
fn chose(
    said: &mut Sentences,
    view: &View<CaseResult<Case>>,
    plain: Option<usize>,
    auto: Option<usize>,
) {
    let (Some(plain), Some(auto)) = (plain, auto) else {
        return;
    };
    let Some(ratio) = view.ratio(plain, auto, ()) else {
        return;
    };
    let shown = text::ratio(Some(ratio));
    let close = (ratio.estimate - 1.0).abs() <= SAME;
    said.say(match ratio.holds_one() {
        true if close => format!("Auto is the same as plain close, within 5 %: {shown}."),
        true => {
            format!("whether Auto is within 5 % of plain close this run does not tell: {shown}.")
        }
        false if ratio.estimate > 1.0 => {
            format!("Auto finds that it pays to have others close: {shown}.")
        }
        false => format!("Auto LOSES against plain close: {shown}."),
    });
}

/// Of a font, what no way of closing changes.
fn loading(said: &mut Sentences, result: &CaseResult<Case>, plain: Option<usize>) {
    let loaded = plain.and_then(|row| typical(result, row, |run| Some(run.load_ns? as f64)));
    if let Some(ns) = loaded {
        said.say(format!(
            "of {PLAIN}'s time {} is loading, which closes nothing that was written.",
            text::duration(ns)
        ));
    }
}
