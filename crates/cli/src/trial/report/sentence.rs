//! Sentences of the report.

use crate::output::text;
use std::fmt::Write as _;

/// Adds a sentence with a mark before it.
pub(super) fn say(out: &mut String, mark: char, sentence: &str) {
    let _ = writeln!(
        out,
        "{}",
        text::wrap(&format!("  {mark} "), sentence, text::width())
    );
}

pub(super) fn plural(count: usize, what: &str) -> String {
    let count_shown = text::thousands(count as i64);
    let ending = match (count, what.ends_with("ss")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count_shown} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_english() {
        assert_eq!(plural(1, "process"), "1 process");
        assert_eq!(plural(1200, "process"), "1,200 processes");
        assert_eq!(plural(0, "run"), "0 runs");
    }
}
