//! What a command printed, compared without the times in it, since tools like to print how long they took; and without
//! any number, for those that print others which vary.

use super::value::{Shape, Value};
use crate::bench::failure::Failure;
use crate::trial::process::unreadable;
use blake3::{Hash, Hasher};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};

/// Of the start of the text, so much is kept to show a difference.
const KEPT_LINES: usize = 2000;
const LONGEST_LINE: usize = 200;

pub(super) struct Printed {
    /// Its contents are the text without times.
    pub(super) value: Value,
    /// Times and all.
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
            if start.len() < KEPT_LINES {
                start.push(text.trim_end().chars().take(LONGEST_LINE).collect());
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

    /// The first line that differs from `other`'s in more than times and, if there is one, in more than numbers; in
    /// both, an empty one where there is none.
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

/// `text` with each number, and the unit of time behind it, as one `#`.
fn without_numbers(text: &str) -> String {
    masked(text, true)
}

/// `text` with each number that has a unit of time behind it, and the unit, as one `#`.
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

/// Behind digits, and further ones after a point, a comma or a colon.
fn after_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    match rest.strip_prefix(['.', ',', ':']) {
        Some(more) if more.starts_with(|char: char| char.is_ascii_digit()) => after_number(more),
        _ => rest,
    }
}

/// `None` where there is no unit of time.
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
    fn times_look_alike_whatever_their_unit() {
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
