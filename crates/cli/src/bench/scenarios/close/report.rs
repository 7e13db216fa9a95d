//! A table per case, then sentences.

use super::super::prelude::*;
use super::{Case, DESIGN, DESIGN_UNBOUNDED, PLAIN, PLAIN_AA, Work, closer};
use crate::bench::runtime::protocol::Peaks;
use smallfry_bench_closing::{Backend, Policy, Way};

/// Where deferring gains nothing, Auto may differ from plain close by this much.
const SAME: f64 = 0.05;

/// The maximum that one process may hold open for closing later.
const MAX_HANDLES: f64 = 512.0;

const NOTE: &str = "Columns of ratios: how many times as fast as that row, with 95 % intervals. \
    Handles: open at once, beyond those of a process that does nothing yet; on Linux a handle whose \
    closing has begun does not count. close_already's design: written here in a few lines, since the \
    crate itself closes as std does but on Windows.";

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.title(&format!(
        "close on {}: the files of a font's glyphs written until the last is closed, nothing flushed; \
         {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        heading(page, session, result);
        if result.case.watched {
            peaks(page, result);
        } else {
            times(page, session, result);
        }
    }
    page.failures(results);
    page.note(NOTE);
    for result in &results.cases {
        page.about(format!("close, {}", result.case));
        if result.case.watched {
            max_handles(page, result);
        } else {
            sentences(page, session, result, results.rounds);
        }
    }
}

fn heading(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
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
    let disk = session.disk_words();
    page.heading(&format!("{}: {work}{watched}; {disk}", result.case));
}

fn times(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
    let view = View::of(session, result);
    let lines = view.labels().map(|(row, label)| {
        let mut line = vec![label.to_owned(), view.median_cell(row)];
        line.extend(view.ratio_cells(row, [PLAIN, DESIGN]));
        // Not the memory: that is the starting process's, which has unpacked the font.
        let [user, sys, _] = view.usage_cells(row);
        line.extend([user, sys]);
        line
    });
    page.table(
        "ms, medians|wall|x std|x close_already's|user|sys",
        1,
        lines,
    );
}

/// Shows the highest of all rounds: a bound that was passed once was passed.
fn peaks(page: &mut Page, result: &CaseResult<Case>) {
    let lines = result.rows.iter().enumerate().map(|(row, of)| {
        let cell =
            |of: fn(&Peaks) -> f64, form: fn(f64) -> String| or_dash(most(result, row, of), form);
        vec![
            of.label.clone(),
            cell(|peaks| peaks.handles as f64, count),
            cell(|peaks| peaks.threads as f64, count),
            cell(|peaks| peaks.resident_kib as f64 / 1024.0, text::number),
        ]
    });
    page.table(
        "most of all rounds|handles at most|threads at most|memory, MiB",
        1,
        lines,
    );
}

fn count(value: f64) -> String {
    thousands(value as i64)
}

fn most(result: &CaseResult<Case>, row: usize, of: impl Fn(&Peaks) -> f64) -> Option<f64> {
    result.max(row, |run| run.peaks.as_ref().map(&of))
}

fn max_handles(page: &mut Page, result: &CaseResult<Case>) {
    let highest = |ours: bool| {
        let rows = result.rows.iter().enumerate();
        let of = rows
            .filter(|(_, row)| matches!(row.launch.closing, Some(Way::Smallfry { .. })) == ours);
        of.filter_map(|(row, of)| Some((most(result, row, |it| it.handles as f64)?, &of.label)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    if let Some((handles, label)) = highest(true) {
        let judged = if handles <= MAX_HANDLES {
            "never more than"
        } else {
            "MORE than"
        };
        let handles = count(handles);
        page.say(format!(
            "handles that smallfry held open at once: {handles} ({label}), {judged} {MAX_HANDLES:.0}."
        ));
    }
    if let Some((handles, label)) = highest(false) {
        let handles = count(handles);
        page.say(format!(
            "handles that others held open at once: up to {handles} ({label})."
        ));
    }
}

/// Says of one case: the noise, each design beside plain close, smallfry beside the other design,
/// and whether Auto chose well.
fn sentences(page: &mut Page, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = View::of(session, result);
    let runtime = result.rows.first().map_or("", |row| row.runtime.name());
    view.noise(page, runtime, [PLAIN, PLAIN_AA], PLAIN, rounds);
    let auto = &closer(Policy::Auto, Backend::Threads);
    let always = &closer(Policy::Always, Backend::Threads);
    let pairs = [(PLAIN, DESIGN), (PLAIN, auto), (PLAIN, always)];
    view.costs(page, runtime, "beside plain close", &pairs);
    for (design, words) in [
        (DESIGN, "beside close_already's design"),
        (DESIGN_UNBOUNDED, "beside that design on unbounded threads"),
    ] {
        view.costs(page, runtime, words, &[(design, auto), (design, always)]);
    }
    let Some(plain) = view.find(runtime, PLAIN) else {
        return;
    };
    let auto = view.find(runtime, auto);
    if let Some(ratio) = auto.and_then(|auto| view.ratio(plain, auto)) {
        let shown = text::ratio(Some(ratio));
        let close = (ratio.estimate - 1.0).abs() <= SAME;
        page.say(match ratio.holds_one() {
            true if close => format!("Auto is the same as plain close, within 5 %: {shown}."),
            true => format!(
                "whether Auto is within 5 % of plain close this run does not tell: {shown}."
            ),
            false if ratio.estimate > 1.0 => {
                format!("Auto finds that it pays to have others close: {shown}.")
            }
            false => format!("Auto LOSES against plain close: {shown}."),
        });
    }
    let loaded = result.typical(plain, |run| Some(run.load_ns? as f64));
    if let Some(ns) = loaded {
        let loading = text::duration(ns);
        page.say(format!(
            "of {PLAIN}'s time {loading} is loading, which closes nothing that was written."
        ));
    }
}
