//! A report with charts: one page that loads nothing and needs no scripts.

mod samples;

use super::charts;
use super::document::{Comparison, Document, Row};
use super::{csv, words};
use crate::output::text;
use crate::stats::claim::Claim;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs, whatever a name in the report is.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
/// With more comparisons than this the page begins with a list of them.
const MAX_WITHOUT_CONTENTS: usize = 3;
/// With more comparisons than this their charts are closed at first.
const MAX_OPEN: usize = 8;
/// The maximum number of sentences at the top.
const MAX_VERDICTS: usize = 6;

pub(super) fn of(document: &Document, whole: &Value) -> Result<String, String> {
    let command = document.command_line.join(" ");
    let is_short = document.comparisons.len() <= MAX_OPEN;
    let sections = document.comparisons.iter().enumerate();
    let sections: Vec<Markup> = sections
        .map(|(index, comparison)| section(index, comparison, is_short))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let lines = csv::of(document).map_err(|error| error.to_string())?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (command) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#results" { "Skip to the results" }
                header {
                    h1 { code { (command) } }
                    (verdict(document))
                    ul.host aria-label="The machine" {
                        @for fact in words::host(document) { li { (fact) } }
                    }
                    @if !document.warnings.is_empty() {
                        ul.warnings aria-label="Warnings" {
                            @for warning in &document.warnings { li { (warning) } }
                        }
                    }
                }
                main id="results" {
                    @if document.comparisons.len() > MAX_WITHOUT_CONTENTS { (contents(document)) }
                    @for section in &sections { (section) }
                }
                footer {
                    h2 { "The data" }
                    p.data {
                        (download("smallfry.json", "application/json", &whole.to_string()))
                        (download("smallfry.csv", "text/csv", &lines))
                    }
                    p { "Ratios are trimmed means of the ratios of the rounds, with 95 % intervals; \
                        medians are of all rounds. So a ratio may differ from that of the \
                        medians beside it." }
                }
            }
        }
    };
    Ok(page.into_string())
}

/// Says what is claimed: the largest gain and each loss of every comparison, as far as there is
/// room.
fn verdict(document: &Document) -> Markup {
    let mut claims: Vec<(&Comparison, &Row, Claim)> = Vec::new();
    for comparison in &document.comparisons {
        let of = |wanted: Claim| {
            let rows = comparison.rows.iter().skip(1);
            rows.filter(move |row| row.claim == Some(wanted))
        };
        let speed = |row: &&Row| row.ratio.map_or(0.0, |ratio| ratio.estimate);
        let best = of(Claim::Gain).max_by(|a, b| speed(a).total_cmp(&speed(b)));
        claims.extend(best.map(|row| (comparison, row, Claim::Gain)));
        claims.extend(of(Claim::Loss).map(|row| (comparison, row, Claim::Loss)));
    }
    let more = claims.len().saturating_sub(MAX_VERDICTS);
    html! {
        @if claims.is_empty() {
            p.verdict { "No difference is certain here." }
        } @else {
            ul.verdict {
                @for (comparison, row, claim) in claims.iter().take(MAX_VERDICTS) {
                    li {
                        (comparison.title()) ": " b { (row.name) } " is "
                        span class=(class(*claim)) { (text::ratio(row.ratio)) }
                        " as fast as " (comparison.baseline().map_or("", |row| &row.name)) "."
                    }
                }
                @if more > 0 { li { "and " (more) " more below." } }
            }
        }
    }
}

fn class(claim: Claim) -> &'static str {
    match claim {
        Claim::Gain => "gain",
        Claim::Loss => "loss",
        _ => "",
    }
}

fn contents(document: &Document) -> Markup {
    html! {
        nav aria-label="Comparisons" {
            ul {
                @for (index, comparison) in document.comparisons.iter().enumerate() {
                    li { a href={ "#c" (index) } { (comparison.title()) } }
                }
            }
        }
    }
}

fn section(
    index: usize,
    comparison: &Comparison,
    is_open: bool,
) -> Result<Markup, Box<dyn std::error::Error>> {
    let title = comparison.title();
    let baseline = comparison.baseline().map_or("", |row| row.name.as_str());
    let charts = [
        (
            charts::bars(comparison)?,
            "Medians. The dashed line is the baseline; the black line in a bar is the 95 % interval \
             of its ratio to the baseline.",
        ),
        (charts::phases(comparison)?, "Phases, one after another."),
        (
            charts::rounds(comparison)?,
            "Samples in the order in which they were taken, on a logarithmic axis: a slope is drift.",
        ),
        (
            charts::percentiles(comparison)?,
            "Percentiles, on a logarithmic axis: the slowest samples are at the right.",
        ),
    ];
    let cached = comparison.cached.map(|part| {
        let percent = part * 100.0;
        format!(" {percent:.0} % of a sample of the files was in the page cache before.")
    });
    Ok(html! {
        section id={ "c" (index) } aria-labelledby={ "h" (index) } {
            h2 id={ "h" (index) } { (title) }
            table {
                caption { (words::noise(comparison)) (cached.unwrap_or_default()) }
                thead {
                    tr {
                        th scope="col" { "Row" }
                        th.n scope="col" { "Median of a " (comparison.sample) }
                        th.n scope="col" { "Times as fast as " (baseline) " (95 %)" }
                        th scope="col" { "Claim" }
                    }
                }
                tbody { @for (index, row) in comparison.rows.iter().enumerate() { (line(index, row)) } }
            }
            (samples::table(comparison))
            details open[is_open] {
                summary { "Charts" }
                @for (chart, caption) in &charts {
                    @if !chart.is_empty() {
                        figure {
                            div role="img" aria-label={ (title) ". " (caption) } { (PreEscaped(chart)) }
                            figcaption { (caption) }
                        }
                    }
                }
            }
        }
    })
}

fn line(index: usize, row: &Row) -> Markup {
    html! {
        tr {
            th scope="row" { (row.name) }
            td.n { (text::or_dash(row.median_ns, text::duration)) }
            td.n { @if index == 0 { "baseline" } @else { (text::ratio(row.ratio)) } }
            @match (&row.error, row.claim) {
                (Some(error), _) => td.failed { "failed: " (error) }
                (None, Some(claim)) => td class=(class(claim)) { (words::claim(claim)) }
                (None, None) => td {}
            }
        }
    }
}

/// Links to data that the page holds.
fn download(name: &str, kind: &str, data: &str) -> Markup {
    let data = utf8_percent_encode(data, NON_ALPHANUMERIC);
    html! {
        a download=(name) href={ "data:" (kind) ";charset=utf-8," (data) } { "Download " (name) }
    }
}
