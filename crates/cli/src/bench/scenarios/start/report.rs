//! A table of the rows, then sentences.

use super::super::prelude::*;
use super::{ALONE, Case, FILE, IMPORT, IMPORTED, REGISTER, REGISTER_FILE, REQUIRED};

pub(super) const REPORT: Report<Case> = Report {
    what: "whole processes of Node that do nothing, with smallfry and without",
    time: WALL,
    heading: |_, _| "processes that read and write no files".to_owned(),
    table: |page, _, view| {
        let headings = "medians, ms|wall|user|sys|more than its baseline|of Node alone";
        view.table(page, headings, |row| {
            let [user, sys, _] = view.usage_cells(row);
            let more = more(view, row);
            let part = more.map(|it| format!("{:.1} %", it.part * 100.0));
            vec![
                view.median_cell(row),
                user,
                sys,
                or_dash(more, |it| format!("{:.2}", it.ns / 1e6)),
                part.unwrap_or_else(|| "-".to_owned()),
            ]
        });
    },
    notes: |_| {
        vec![
            "The baseline of smallfry/register is the empty --require, that of import smallfry the \
             empty import, and of a file the same file without smallfry.",
        ]
    },
    sentences: |page, _, result, view| {
        view.noise(page);
        for (row, of) in result.rows.iter().enumerate() {
            let Some(more) = more(view, row) else {
                continue;
            };
            page.say(format!(
                "{} takes {:.2} ms more than {}, {:.1} % of the time of Node alone.",
                of.label,
                more.ns / 1e6,
                more.baseline,
                more.part * 100.0
            ));
        }
    },
};

/// The time that a row takes more than its baseline.
#[derive(Clone, Copy)]
struct More {
    baseline: &'static str,
    ns: f64,
    /// As a part of the time of Node alone.
    part: f64,
}

fn more(view: &View, row: usize) -> Option<More> {
    let of = &view.rows[row];
    let baseline = match of.implementation.as_str() {
        REGISTER => REQUIRED,
        REGISTER_FILE => FILE,
        IMPORT => IMPORTED,
        _ => return None,
    };
    let runtime = of.runtime.name();
    let before = view.times(view.find(runtime, baseline)?);
    let pairs = view.times(row).into_iter().zip(before);
    let ns = median(pairs.filter_map(|(with, without)| Some(with? - without?)))?;
    let alone = view.median(view.find(runtime, ALONE)?)?;
    let part = ns / alone;
    Some(More { baseline, ns, part })
}
