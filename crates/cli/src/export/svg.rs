//! One picture, on white: the medians of the first comparisons.

use super::charts;
use super::document::{Comparison, Document};
use maud::{PreEscaped, html};

/// The maximum number of comparisons in the picture.
const MAX: usize = 3;
/// The height of a title, in pixels.
const TITLE: u32 = 34;

pub(super) fn of(document: &Document) -> Result<String, String> {
    let shown: Vec<&Comparison> = document.comparisons.iter().take(MAX).collect();
    let mut parts = Vec::new();
    let mut y = 0;
    for comparison in shown {
        let chart = charts::bars(comparison).map_err(|error| error.to_string())?;
        parts.push((y, comparison.title(), chart));
        y += TITLE + charts::height_of_bars(comparison);
    }
    let width = charts::WIDTH;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(y) viewBox={ "0 0 " (width) " " (y) } {
            rect width="100%" height="100%" fill="#ffffff" {}
            @for (y, title, chart) in &parts {
                text x="8" y=(y + 22) font-family="sans-serif" font-size="17" { (title) }
                g transform={ "translate(0 " (y + TITLE) ")" } { (PreEscaped(chart)) }
            }
        }
    };
    Ok(picture.into_string() + "\n")
}
