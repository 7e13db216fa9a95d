//! A table per case, then sentences.

use super::super::prelude::*;
use super::case::{Case, DESIGN, PLAIN, Work};
use crate::bench::runtime::protocol::Peaks;
use smallfry_bench_closing::Way;

/// Where deferring gains nothing, Auto may differ from plain close by this much.
const SAME: f64 = 0.05;

/// The maximum that one process may hold open for closing later.
const MAX_HANDLES: f64 = 512.0;

pub(super) const REPORT: Report<Case> = Report {
    what: "the files of a font's glyphs written until the last is closed, nothing flushed",
    time: WALL,
    heading: |_, result| {
        let work = match result.case.work {
            Work::Write => "one thread writes all",
            Work::Norad => "norad loads the font and saves it, on one thread",
            Work::NoradRayon => {
                "norad with its feature rayon loads the font and saves it, on all cores"
            }
        };
        let watched = "; watched meanwhile, so not timed";
        format!("{work}{}", if result.case.watched { watched } else { "" })
    },
    table: |page, result, view| {
        if result.case.watched {
            return peaks(page, result, view);
        }
        let headings = "ms, medians|wall|x std|x close_already's|user|sys";
        view.table(page, headings, |row| {
            // Not the memory: that is the starting process's, which has unpacked the font.
            let [user, sys, _] = view.usage_cells(row);
            let [plain, design] = [PLAIN, DESIGN].map(|name| view.ratio_cell(row, name));
            vec![view.median_cell(row), plain, design, user, sys]
        });
    },
    notes: |_| {
        vec![
            "Columns of ratios: how many times as fast as that row, with 95 % intervals. Handles: \
             open at once, beyond those of a process that does nothing yet; on Linux a handle whose \
             closing has begun does not count. close_already's design: written here in a few lines, \
             since the crate itself closes as std does but on Windows.",
        ]
    },
    sentences: |page, _, result, view| {
        if result.case.watched {
            max_handles(page, result);
        } else {
            sentences(page, result, view);
        }
    },
};

/// Shows the highest of all rounds: a bound that was passed once was passed.
fn peaks(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let headings = "most of all rounds|handles at most|threads at most|memory, MiB";
    view.table(page, headings, |row| {
        let memory = max(result, row, |peaks| peaks.resident_kib as f64 / 1024.0);
        vec![
            or_dash(max(result, row, |peaks| peaks.handles as f64), count),
            or_dash(max(result, row, |peaks| peaks.threads as f64), count),
            or_dash(memory, text::number),
        ]
    });
}

fn count(value: f64) -> String {
    thousands(value as i64)
}

fn max(result: &CaseResult<Case>, row: usize, of: impl Fn(&Peaks) -> f64) -> Option<f64> {
    result.max(row, |run| run.peaks.as_ref().map(&of))
}

fn max_handles(page: &mut Page, result: &CaseResult<Case>) {
    for (ours, owner) in [(true, "smallfry"), (false, "others")] {
        let is_one = |row: &Row| matches!(row.launch.closing, Some(Way::Smallfry { .. })) == ours;
        let rows = result.rows.iter().enumerate();
        let handles = rows.filter(|(_, row)| is_one(row)).filter_map(|(row, of)| {
            let handles = max(result, row, |peaks| peaks.handles as f64)?;
            Some((handles, &of.label))
        });
        let Some((handles, label)) = handles.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        let judged = match handles <= MAX_HANDLES {
            _ if !ours => String::new(),
            true => format!(", never more than {MAX_HANDLES:.0}"),
            false => format!(", MORE than {MAX_HANDLES:.0}"),
        };
        page.say(format!(
            "handles that {owner} held open at once: up to {} ({label}){judged}.",
            count(handles)
        ));
    }
}

/// Each design beside plain close, and smallfry beside the other designs.
const COMPARED: [&str; 3] = [
    "std|close_already's design|smallfry Auto|smallfry Always",
    "close_already's design|smallfry Auto|smallfry Always",
    "close_already's design, unbounded threads|smallfry Auto|smallfry Always",
];

/// Says of one case: the noise, how the ways compare, and whether Auto chose well.
fn sentences(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let runtime = result.rows.first().map_or("", |row| row.runtime.name());
    view.noise(page);
    view.compare(page, |_| "beside plain close".to_owned(), &COMPARED[..1]);
    let words = "beside the other design";
    view.compare(page, |_| words.to_owned(), &COMPARED[1..]);
    let Some(plain) = view.find(runtime, PLAIN) else {
        return;
    };
    let auto = view.find(runtime, "smallfry Auto");
    if let Some(ratio) = auto.and_then(|auto| view.ratio(plain, auto)) {
        let shown = text::ratio(Some(ratio));
        let close = (ratio.estimate - 1.0).abs() <= SAME;
        let said = match (ratio.holds_one(), ratio.estimate > 1.0) {
            (true, _) if close => "Auto is the same as plain close, within 5 %",
            (true, _) => "whether Auto is within 5 % of plain close this run does not tell",
            (false, true) => "Auto finds that it pays to have others close",
            (false, false) => "Auto LOSES against plain close",
        };
        page.say(format!("{said}: {shown}."));
    }
    if let Some(ns) = result.typical(plain, |run| Some(run.load_ns? as f64)) {
        let loading = text::duration(ns);
        page.say(format!(
            "of {PLAIN}'s time {loading} is loading, which closes nothing that was written."
        ));
    }
}
