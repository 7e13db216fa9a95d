//! Numbers and bars as text.

use crate::stats::interval::Interval;
use comfy_table::{Attribute, Cell, CellAlignment, Table, presets};
use indicatif::{HumanBytes, HumanCount};
use scaler::{Formatter, Rounding, Scaling};
use std::fmt::Write as _;
use std::time::Duration;
use textwrap::{Options, WordSplitter};

/// The width of a terminal that does not tell.
const USUAL_WIDTH: u16 = 100;

/// Returns the number of columns to fill.
pub(crate) fn width() -> usize {
    let told = Table::new().width().unwrap_or(USUAL_WIDTH);
    usize::from(told.clamp(72, 140))
}

/// Returns the columns for a bar beside numbers: none where the numbers need them all.
pub(crate) fn bar_cells() -> usize {
    if width() < 96 { 0 } else { 9 }
}

/// Shows three significant digits, and all of a larger number.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => thousands(value.round() as i64),
        _ => three_digits(Scaling::None).format(value),
    }
}

fn three_digits(scaling: Scaling) -> Formatter {
    Formatter::new()
        .set_rounding(Rounding::SignificantDigits(3))
        .set_scaling(scaling)
        .set_separators(",", ".")
}

pub(crate) fn micros(ns: f64) -> String {
    number(ns / 1e3)
}

pub(crate) fn millis(ns: f64) -> String {
    number(ns / 1e6)
}

pub(crate) fn thousands(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", HumanCount(value.unsigned_abs()))
}

/// Shows a duration in the unit that suits it.
pub(crate) fn duration(ns: f64) -> String {
    // Nobody counts in thousands of seconds.
    if ns >= 999.5e9 {
        return format!("{} s", number(ns / 1e9));
    }
    format!("{}s", three_digits(Scaling::Decimal(true)).format(ns / 1e9))
}

/// Shows a time that somebody waits: `12 s`, `1 min 52 s`.
pub(crate) fn minutes(time: Duration) -> String {
    match time.as_secs() {
        0 => duration(time.as_nanos() as f64),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

pub(crate) fn bytes(count: u64) -> String {
    HumanBytes(count).to_string()
}

/// Shows `1.23x (1.20-1.26)`.
pub(crate) fn ratio(interval: Option<Interval>) -> String {
    let form = |it: Interval| format!("{:.2}x ({:.2}-{:.2})", it.estimate, it.low, it.high);
    or_dash(interval, form)
}

/// Shows the value, or a dash where there is none.
pub(crate) fn or_dash<T>(value: Option<T>, form: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), form)
}

/// Draws `part` of `cells` columns, in eighths.
pub(crate) fn bar(part: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Draws `part` of `cells` columns with characters that every terminal has.
pub(crate) fn hashes(part: f64, cells: usize) -> String {
    "#".repeat((part.clamp(0.0, 1.0) * cells as f64).round() as usize)
}

/// Draws one line of boxes, each as wide as its share of `whole`, with as much of its name as fits.
pub(crate) fn segments(parts: &[(&str, f64)], whole: f64, cells: usize) -> String {
    let mut line = String::new();
    let (mut sum, mut column) = (0.0, 0);
    for (name, part) in parts {
        sum += part;
        let end = ((sum / whole * cells as f64).round() as usize).min(cells);
        // The boundary takes a column of its own box, so that lengths stay to scale.
        if let Some(inner) = (end - column).checked_sub(1) {
            // A letter alone says nothing.
            let letters = if inner > 1 { inner } else { 0 };
            let shown: String = name.chars().take(letters).collect();
            let _ = write!(line, "▕{shown:░<inner$}");
            column = end;
        }
    }
    line
}

/// Puts `lead` and the words of `text` into lines of at most `columns`; later lines are indented
/// like the text.
pub(crate) fn wrap(lead: &str, text: &str, columns: usize) -> String {
    let indent = " ".repeat(lead.chars().count());
    let options = Options::new(columns)
        .initial_indent(lead)
        .subsequent_indent(&indent)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(text, options)
}

/// Returns indented columns under headings; all but the first to the right, and those whose
/// headings begin with `<`.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let heading = |it: &&str| Cell::new(it.trim_start_matches('<')).add_attribute(Attribute::Bold);
    table.set_header(headings.iter().map(heading));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 0 }, 1));
        if index > 0 && !headings[index].starts_with('<') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Appends the table after an empty line.
pub(crate) fn put(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\n{}", table.trim_fmt());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(
            [0.123, 1.234, 12.34, 123.4, 12_345.0].map(number),
            ["0.123", "1.23", "12.3", "123", "12,345"]
        );
        assert_eq!(
            [1.0, -1_000.0].map(|v| thousands(v as i64)),
            ["1", "-1,000"]
        );
    }

    #[test]
    fn units_suit_the_size() {
        assert_eq!(duration(160.0), "160 ns");
        assert_eq!(duration(2_190.0), "2.19 µs");
        assert_eq!(bytes(5 << 30), "5.00 GiB");
    }

    #[test]
    fn long_sentences_are_wrapped_between_words() {
        assert_eq!(wrap("- ", "one two three", 9), "- one two\n  three");
        assert_eq!(wrap("", "unbreakable", 4), "unbreakable");
    }

    #[test]
    fn bars_are_to_scale() {
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(1.0 / 16.0, 4), "▎");
        assert_eq!(bar(2.0, 2), "██");
        let line = segments(&[("read", 0.5), ("write", 0.5)], 2.0, 16);
        assert_eq!(line, "▕rea▕wri");
    }

    #[test]
    fn a_part_too_small_to_see_leaves_the_others_to_scale() {
        let line = segments(&[("walk", 0.01), ("read", 0.99)], 1.0, 10);
        assert_eq!(line.chars().count(), 10);
        assert!(line.starts_with("▕read"));
    }
}
