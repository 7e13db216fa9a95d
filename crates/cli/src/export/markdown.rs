//! Tables in Markdown, as GitHub shows them, for a pull request.

use super::document::{Comparison, Document, Row};
use super::words;
use crate::output::text;
use std::fmt::Write as _;

pub(super) fn of(document: &Document) -> String {
    let mut out = format!("**{}**\n", cell(&document.command_line.join(" ")));
    let _ = writeln!(out, "\n{}", cell(&words::host(document).join(", ")));
    for warning in &document.warnings {
        let _ = writeln!(out, "\n> {}", cell(warning));
    }
    for comparison in &document.comparisons {
        table(&mut out, comparison);
    }
    out
}

fn table(out: &mut String, comparison: &Comparison) {
    let _ = writeln!(out, "\n### {}\n", cell(&comparison.title()));
    let _ = writeln!(
        out,
        "| | median of a {} | times as fast (95 %) | |",
        comparison.sample
    );
    let _ = writeln!(out, "|---|--:|--:|---|");
    for (index, row) in comparison.rows.iter().enumerate() {
        let ratio = match index {
            0 => "baseline".to_owned(),
            _ => text::ratio(row.ratio),
        };
        let median = text::or_dash(row.median_ns, text::duration);
        let (name, claim) = (cell(&row.name), claim(row));
        let _ = writeln!(out, "| {name} | {median} | {ratio} | {claim} |");
    }
    let _ = writeln!(out, "\n{}", words::noise(comparison));
}

fn claim(row: &Row) -> String {
    match &row.error {
        Some(error) => cell(&format!("failed: {error}")),
        None => row.claim.map(words::claim).unwrap_or_default().to_owned(),
    }
}

/// Keeps text from being taken for marks.
fn cell(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '<' | '>' | '`' | '[' | ']' | '\\' | '#' => {
                shown.push('\\');
                shown.push(letter);
            }
            '\n' | '\r' => shown.push(' '),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_a_cell() {
        assert_eq!(cell("a|b\nc*"), r"a\|b c\*");
    }
}
