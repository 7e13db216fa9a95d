//! The first screen of a command: the answer, in at most 25 lines of 100 columns.

use super::text;
use crate::stats::claim::{Claim, Noise};
use crate::stats::interval::Interval;
use console::{Style, user_attended};

/// Returns true where bars are drawn: in a pipe they tell nothing.
pub(crate) fn has_bars() -> bool {
    user_attended()
}

/// The lines of a screen.
pub(crate) struct Screen(String);

impl Screen {
    /// Begins with these facts on one line.
    pub(crate) fn new(facts: &[String]) -> Self {
        let mut screen = Self(String::from("\n"));
        let bold = Style::new().bold();
        let line = text::wrap("", &facts.join(" - "), text::width());
        screen.line(&bold.apply_to(line).to_string());
        screen
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Puts sentences or commands beside a word.
    pub(crate) fn fact(&mut self, word: &str, fact: &str) {
        self.line(&text::wrap(&format!("  {word:<9}"), fact, text::width()));
    }

    /// Says what the reader should know before believing the rest.
    pub(crate) fn warn(&mut self, sentence: &str) {
        self.line(&text::wrap("  ! ", sentence, text::width()));
    }

    /// Draws a bar where there is a terminal: it tells a program nothing.
    pub(crate) fn bar(part: f64, cells: usize) -> String {
        let cells = if has_bars() { cells } else { 0 };
        text::hashes(part, cells)
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// Shows a ratio, or that there is none to claim.
pub(crate) fn cell(ratio: Interval, noise: Noise) -> String {
    let shown = text::ratio(Some(ratio));
    match noise.claim(ratio) {
        Claim::Gain => Style::new().green().apply_to(shown).to_string(),
        Claim::Loss => Style::new()
            .red()
            .apply_to(format!("{shown}, a loss"))
            .to_string(),
        Claim::NoDifference | Claim::WithinNoise => "no difference".to_owned(),
        Claim::TooFewRounds => format!("{shown}, unsure"),
    }
}
