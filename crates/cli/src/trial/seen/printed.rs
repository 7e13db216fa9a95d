//! What a command printed, compared with and without its numbers: tools like to print how long they took.

use super::{Shape, Value};
use crate::bench::failure::Failure;
use crate::trial::process::unreadable;
use blake3::Hasher;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};

/// Of the start of the text, so much is kept to show a difference.
const KEPT_LINES: usize = 2000;
const LONGEST_LINE: usize = 200;

pub(super) struct Printed {
    pub(super) value: Value,
    start: Vec<String>,
}

impl Printed {
    pub(super) fn read(file: &File) -> Result<Self, Failure> {
        let mut file = file.try_clone().map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let mut reader = BufReader::new(file);
        let (mut masked, mut whole) = (Hasher::new(), Hasher::new());
        let mut start = Vec::new();
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(unreadable)? > 0 {
            let text = String::from_utf8_lossy(&line);
            whole.update(&line);
            masked.update(without_numbers(&text).as_bytes());
            if start.len() < KEPT_LINES {
                start.push(text.trim_end().chars().take(LONGEST_LINE).collect());
            }
            line.clear();
        }
        let value = Value {
            shape: Shape::Text(masked.finalize()),
            contents: whole.finalize(),
        };
        Ok(Self { value, start })
    }

    /// The first line that differs from `other`'s, in both; an empty one where there is none. With `numbers`, lines that
    /// differ in numbers alone are enough.
    pub(super) fn first_difference(&self, other: &Self, numbers: bool) -> Option<[String; 2]> {
        let line = |lines: &[String], index| lines.get(index).cloned().unwrap_or_default();
        (0..self.start.len().max(other.start.len()))
            .map(|index| [line(&self.start, index), line(&other.start, index)])
            .find(|[own, other]| {
                own != other && (numbers || without_numbers(own) != without_numbers(other))
            })
    }
}

/// `text` with each number, and the unit of time behind it, as one `#`.
fn without_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| char.is_ascii_digit()) {
        masked.push_str(&rest[..at]);
        masked.push('#');
        rest = after_unit(after_number(&rest[at..]));
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

fn after_unit(text: &str) -> &str {
    let spaced = text.strip_prefix(' ').unwrap_or(text);
    [
        "ns", "µs", "μs", "us", "ms", "seconds", "sec", "s", "minutes", "min", "m",
    ]
    .into_iter()
    .find_map(|unit| {
        let rest = spaced.strip_prefix(unit)?;
        (!rest.starts_with(char::is_alphanumeric)).then_some(rest)
    })
    .unwrap_or(text)
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
        }
        assert_eq!(
            without_numbers("at 10:32:01.5, 3 modules"),
            "at #, # modules"
        );
        assert_eq!(without_numbers("a1b2.c é9"), "a#b#.c é#");
        assert_eq!(without_numbers("no"), "no");
    }
}
