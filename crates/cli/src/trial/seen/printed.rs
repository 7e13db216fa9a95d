//! Printed text. It is compared without times, since tools like to print how long they took, and
//! once more without any numbers, for tools that print other varying numbers.

use super::value::{Shape, Value};
use crate::failure::Failure;
use crate::trial::process::unreadable;
use blake3::{Hash, Hasher};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};

/// Limits of the text that is kept to show a difference.
const MAX_LINES: usize = 2000;
const MAX_LINE_LENGTH: usize = 200;

pub(super) struct Printed {
    /// Its contents are the text without times.
    pub(super) value: Value,
    /// The text with times.
    pub(super) whole: Hash,
    start: Vec<String>,
}

impl Printed {
    pub(super) fn read(file: &File) -> Result<Self, Failure> {
        let mut file = file.try_clone().map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let mut reader = BufReader::new(file);
        let mut numberless = Hasher::new();
        let mut timeless = Hasher::new();
        let mut whole = Hasher::new();
        let mut start = Vec::new();
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(unreadable)? > 0 {
            let text = String::from_utf8_lossy(&line);
            whole.update(&line);
            numberless.update(without_numbers(&text).as_bytes());
            timeless.update(without_times(&text).as_bytes());
            if start.len() < MAX_LINES {
                start.push(text.trim_end().chars().take(MAX_LINE_LENGTH).collect());
            }
            line.clear();
        }
        let value = Value {
            shape: Shape::Text(numberless.finalize()),
            contents: timeless.finalize(),
        };
        let whole = whole.finalize();
        Ok(Self {
            value,
            whole,
            start,
        })
    }

    /// The first line that differs from `other`'s. A line that differs in more than numbers is
    /// preferred; otherwise it differs in more than times. A missing line is empty.
    pub(super) fn first_difference(&self, other: &Self) -> Option<[String; 2]> {
        self.first_that_differs(other, without_numbers)
            .or_else(|| self.first_that_differs(other, without_times))
    }

    fn first_that_differs(&self, other: &Self, mask: fn(&str) -> String) -> Option<[String; 2]> {
        let line = |lines: &[String], index| lines.get(index).cloned().unwrap_or_default();
        (0..self.start.len().max(other.start.len()))
            .map(|index| [line(&self.start, index), line(&other.start, index)])
            .find(|[own, other]| mask(own) != mask(other))
    }
}

/// Replaces each number, and a unit of time behind it, by `#`.
fn without_numbers(text: &str) -> String {
    masked(text, true)
}

/// Replaces each number with a unit of time behind it, and the unit, by `#`.
fn without_times(text: &str) -> String {
    masked(text, false)
}

fn masked(text: &str, all_numbers: bool) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| char.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let behind = after_number(number);
        masked.push_str(before);
        rest = match after_unit(behind) {
            Some(behind_unit) => {
                masked.push('#');
                behind_unit
            }
            None if all_numbers => {
                masked.push('#');
                behind
            }
            None => {
                masked.push_str(&number[..number.len() - behind.len()]);
                behind
            }
        };
    }
    masked.push_str(rest);
    masked
}

/// Skips digits, and further ones after a point, a comma or a colon.
fn after_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    match rest.strip_prefix(['.', ',', ':']) {
        Some(more) if more.starts_with(|char: char| char.is_ascii_digit()) => after_number(more),
        _ => rest,
    }
}

/// Skips a unit of time. `None`: there is none.
fn after_unit(text: &str) -> Option<&str> {
    let spaced = text.strip_prefix(' ').unwrap_or(text);
    [
        "ns", "µs", "μs", "us", "ms", "seconds", "sec", "s", "minutes", "min", "m",
    ]
    .into_iter()
    .find_map(|unit| {
        let rest = spaced.strip_prefix(unit)?;
        (!rest.starts_with(char::is_alphanumeric)).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_masked_with_every_unit() {
        for text in [
            "built in 1.21s\n",
            "built in 980ms\n",
            "built in 12 seconds\n",
        ] {
            assert_eq!(without_numbers(text), "built in #\n");
            assert_eq!(without_times(text), "built in #\n");
        }
        assert_eq!(
            without_times("3 modules in 1m 20.5s, v1.2.3 at 10:32"),
            "3 modules in # #, v1.2.3 at 10:32"
        );
        assert_eq!(
            without_numbers("at 10:32:01.5, 3 modules"),
            "at #, # modules"
        );
        assert_eq!(without_numbers("a1b2.c é9"), "a#b#.c é#");
        assert_eq!(without_numbers("no"), "no");
    }
}
