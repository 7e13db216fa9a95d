//! The error of an invalid package.json.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of a package.json that Node refuses, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// A short reason.
    pub reason: &'static str,
}

impl Invalid {
    /// Makes an error at an offset in `bytes`, or at their end.
    pub(crate) fn at(bytes: &[u8], offset: usize, reason: &'static str) -> Self {
        let before = &bytes[..offset.min(bytes.len())];
        let mut line = 1;
        let mut start = 0;
        for (index, _) in before
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
        {
            line += 1;
            start = index + 1;
        }
        // Only the first byte of a character is not a continuation byte.
        let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
        Self {
            line,
            column: 1 + before[start..].iter().filter(is_first).count(),
            reason,
        }
    }
}

impl Display for Invalid {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

impl Error for Invalid {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "a\nüb\n".as_bytes();
        for (offset, line, column) in [
            (0, 1, 1),
            (2, 2, 1),
            (4, 2, 2),
            (5, 2, 3),
            (6, 3, 1),
            (99, 3, 1),
        ] {
            let place = Invalid::at(text, offset, "");
            assert_eq!((place.line, place.column), (line, column), "{offset}");
        }
    }
}
