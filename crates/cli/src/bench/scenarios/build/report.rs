//! A waterfall, a table of phases, a table of ratios, and sentences.

use super::super::prelude::*;
use super::case::{BUT_PUBLISH, Case, PHASES, WRITE_AND_CLOSE, phase};
use super::screen::screen;
use crate::bench::report::view::WHOLE;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    let Some(result) = results.cases.first() else {
        return;
    };
    let view = View::by(result, phase);
    page.screen(screen(session, &result.case, &view, results.rounds));
    heading(page, session, &result.case, results.rounds);
    waterfall(page, &view);
    phases(page, &view);
    for node in &session.nodes {
        let package = node.package.as_ref();
        if package.is_some_and(|package| !package.durable) {
            page.note(&format!(
                "On {} all rows publish the plain way: this package of smallfry takes no option \
                 `durability`.",
                node.runtime.name()
            ));
        }
    }
    let headings = "whole pipeline|x Node sync (95 %)|x Promise.all (95 %)|user ms|sys ms|peak MiB";
    view.table(page, headings, |row| {
        let mut line = vec![view.ratio_cell(row, NODE_SYNC)];
        line.push(view.ratio_cell(row, NODE_PARALLEL));
        line.extend(view.usage_cells(row));
        line
    });
    page.failures(results);
    sentences(page, session, &view);
}

fn heading(page: &mut Page, session: &Session, case: &Case, rounds: usize) {
    let of = match thousands(case.files_found as i64) {
        found if case.files < case.files_found => format!(" (of {found}, the first by path)"),
        _ => String::new(),
    };
    let what = format!(
        "{} source files{of}, {}, from {}",
        thousands(case.files as i64),
        text::bytes(case.bytes as u64),
        case.tree.display()
    );
    page.title("build", session, &what, rounds);
    let cached = match case.cached {
        Some(part) => format!("{:.0} % of a sample of the sources cached", part * 100.0),
        None => "sources read before, whether cached not checked".to_owned(),
    };
    page.note(&format!(
        "the last build removed, read, changed, all written, {} other files copied, the first {} \
         published durably; {cached}",
        thousands(case.assets as i64),
        case.published
    ));
}

fn waterfall(page: &mut Page, view: &View) {
    let totals: Vec<Option<f64>> = view.labels().map(|(row, _)| view.median(row)).collect();
    let longest = totals.iter().flatten().copied().fold(0.0, f64::max);
    let names = view.labels().map(|(_, label)| label.chars().count());
    let names = names.max().unwrap_or(0);
    let room = text::width().saturating_sub(names + 14);
    page.line(&format!(
        "\n  {:<names$}  {:>8}  medians, to scale",
        "", "ms"
    ));
    for (row, label) in view.labels() {
        if let Some(error) = &view.outcomes[row].error {
            page.line(&format!("  {label:<names$}  {:>8}  {error}", "failed"));
            continue;
        }
        let Some(total) = totals[row] else { continue };
        let part = |phase: &'static str| Some((phase, view.part(phase).median(row)?));
        let parts: Vec<(&str, f64)> = PHASES.split('|').filter_map(part).collect();
        let whole: f64 = parts.iter().map(|(_, ns)| ns).sum();
        let cells = (room as f64 * total / longest).round() as usize;
        let boxes = text::segments(&parts, whole, cells);
        page.line(&format!(
            "  {label:<names$}  {:>8}  {boxes}",
            text::millis(total)
        ));
    }
}

const NOTES: [&str; 3] = [
    "Walking and transforming run the plain way in every row: smallfry does not do them.",
    "Publishing makes each file whole or not at all, and durable: std, Node sync and the rows of \
     smallfry that call it for each file wait for the disk file by file; Promise.all for all files \
     together, then for each directory; smallfry's bulk rows have one barrier for all.",
    "Where close shows -, closing is inside write: functions for whole files do not tell it apart.",
];

fn phases(page: &mut Page, view: &View) {
    view.table(page, &format!("ms, medians|{PHASES}"), |row| {
        let cell = |phase| view.part(phase).median_cell(row);
        PHASES.split('|').map(cell).collect()
    });
    for note in NOTES {
        page.note(note);
    }
}

/// The costs that smallfry is about, by phase, in words.
const COSTS: [(&str, &str); 9] = [
    ("clean", "removing the last build"),
    ("type", "asking module types"),
    ("read", "reading all"),
    (WRITE_AND_CLOSE, "writing and closing all"),
    ("close", "of that, closing"),
    ("assets", "copying assets"),
    (BUT_PUBLISH, "all that together"),
    ("publish", "publishing durably"),
    (WHOLE, "the whole pipeline"),
];

fn sentences(page: &mut Page, session: &Session, view: &View) {
    page.about("build");
    view.part(BUT_PUBLISH).noise(page);
    let publish = view.part("publish");
    for node in &session.nodes {
        let name = node.runtime.name();
        let both = ["Node sync", "Node sync A/A"].map(|row| view.find(name, row));
        if let [Some(one), Some(other)] = both {
            let shown = text::ratio(publish.ratio(one, other));
            page.say(format!(
                "noise of publishing on {name}, which waits for the device: {shown}."
            ));
        }
    }
    for (part, words) in COSTS {
        let words = |row: &Row| format!("{words}, {}", place(row));
        view.part(part).compare(page, words, &rows::COMPARED);
    }
    for node in &session.nodes {
        let name = node.runtime.name();
        for part in ["read", WRITE_AND_CLOSE, "publish"] {
            idioms::winner(page, session, &view.part(part), name);
        }
        if let Some(package) = &node.package {
            let load = text::duration(package.load_ns as f64);
            page.say(format!(
                "loading smallfry costs a process on {name} {load} once; that is not in these figures."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::CaseResult;
    use crate::bench::runtime::Row;
    use crate::bench::runtime::protocol::{Functions, Style, Times};

    /// A row that tells closing apart, and one that cannot, both with the same sum.
    fn result() -> CaseResult<Case> {
        let row = |name| Row::native(Functions::Std, name, Style::Sync);
        let times: [&[(&str, u64)]; 2] = [
            &[
                ("write", 6_000_000),
                ("close", 2_000_000),
                ("publish", 1_000_000),
            ],
            &[("write", 8_000_000), ("publish", 1_000_000)],
        ];
        let mut result = CaseResult::new(Case::default(), vec![row("apart"), row("inside")]);
        for (outcome, phases) in result.outcomes.iter_mut().zip(times) {
            let phases = phases.iter().map(|(name, ns)| ((*name).to_owned(), *ns));
            let run = Times {
                phases: phases.collect(),
                ..Times::default()
            };
            outcome.record(Ok(run), true);
        }
        result
    }

    #[test]
    fn a_row_that_closes_inside_write_has_no_figure_for_closing() {
        let result = result();
        let view = View::by(&result, phase);
        assert_eq!(view.part("close").median(1), None);
        for part in [WRITE_AND_CLOSE, BUT_PUBLISH, WHOLE] {
            let view = view.part(part);
            assert_eq!(view.median(0), view.median(1), "{part:?}");
        }

        let mut page = Page::default();
        waterfall(&mut page, &view);
        let out = page.finish(true);
        let line = |name: &str| out.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("apart").contains("▕close"), "{out}");
        assert!(!line("inside").contains("close"), "{out}");

        let mut page = Page::default();
        phases(&mut page, &view);
        let out = page.finish(true);
        let cells = |name: &str| -> Vec<&str> {
            let line = out.lines().find(|line| line.trim_start().starts_with(name));
            line.unwrap().split_whitespace().collect()
        };
        assert_eq!(cells("apart")[6..], ["6.00", "2.00", "-", "1.00"]);
        assert_eq!(cells("inside")[6..], ["8.00", "-", "-", "1.00"]);
        assert!(out.contains("Where close shows -"), "{out}");
    }
}
