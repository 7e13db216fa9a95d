//! A page for the terminal: tables and notes first, then sentences.

use super::text;
use crate::bench::results::Results;
use crate::bench::session::Session;
use crate::bench::stats::bootstrap::Interval;
use crate::bench::stats::claim::{Claim, ENOUGH_ROUNDS, Noise};
use std::fmt::{Display, Write as _};

/// A baseline that may differ from itself by more deserves a warning.
const NOISY: f64 = 8.0;

#[derive(Default)]
pub(crate) struct Page {
    out: String,
    /// Sentences, each with its mark.
    said: Vec<(&'static str, String)>,
}

impl Page {
    /// Begins a scenario.
    pub(crate) fn title(&mut self, name: &str, session: &Session, what: &str, rounds: usize) {
        let title = format!(
            "{name} on {}: {what}; {rounds} rounds, a fresh process for every run",
            session.disk_words()
        );
        self.line(&format!("\n{}", text::wrap("", &title, text::width())));
    }

    /// Begins a table.
    pub(crate) fn heading(&mut self, heading: &str) {
        self.line("");
        self.note(heading);
    }

    pub(crate) fn note(&mut self, note: &str) {
        self.line(&text::wrap("  ", note, text::width()));
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Puts lines under headings that `|` separates; all columns but the first to the right, and
    /// those whose headings begin with `<`.
    pub(crate) fn table(&mut self, headings: &str, lines: impl IntoIterator<Item = Vec<String>>) {
        let mut table = text::table(&headings.split('|').collect::<Vec<_>>());
        table.add_rows(lines);
        if !table.is_empty() {
            text::put(&mut self.out, &table);
        }
    }

    /// Lists the rows that failed.
    pub(crate) fn failures<C: Display>(&mut self, results: &Results<C>) {
        for result in &results.cases {
            for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
                if let Some(error) = &outcome.error {
                    let (case, label) = (&result.case, &row.label);
                    self.line(&format!("  FAILED  {case}, {label}: {error}"));
                }
            }
        }
    }

    /// Names the subject of the next sentences.
    pub(crate) fn about(&mut self, subject: impl Into<String>) {
        self.said.push(("  ", subject.into()));
    }

    pub(crate) fn say(&mut self, sentence: impl Into<String>) {
        self.said.push(("  - ", sentence.into()));
    }

    /// Says something that the reader should know before believing the rest.
    pub(crate) fn warn(&mut self, sentence: impl Into<String>) {
        self.said.push(("  ! ", sentence.into()));
    }

    pub(crate) fn detail(&mut self, detail: impl Into<String>) {
        self.said.push(("      ", detail.into()));
    }

    /// Says what the baseline of that name against itself tells about the machine.
    pub(crate) fn noise(&mut self, baseline: &str, noise: Noise) {
        let Noise { itself, rounds } = noise;
        if (2..ENOUGH_ROUNDS).contains(&rounds) {
            self.warn(format!(
                "only {rounds} rounds: too few for a verdict; {ENOUGH_ROUNDS} are enough (--runs, \
                 --seconds)."
            ));
        }
        if itself.is_none() {
            return self.warn("one round tells nothing about noise: no intervals.");
        }
        let shown = text::ratio(itself);
        let percent = noise.percent();
        if percent > NOISY {
            self.warn(format!(
                "this machine is too noisy to tell differences under {percent:.0} %: {baseline} \
                 against itself came out at {shown}. Close other programs, or measure longer \
                 (--seconds)."
            ));
        } else {
            self.say(format!(
                "noise: {baseline} against itself came out at {shown}; differences under \
                 {percent:.0} % mean nothing here."
            ));
        }
    }

    /// Returns the tables, then the sentences.
    pub(crate) fn finish(self) -> String {
        let mut out = self.out;
        out.push_str("\nIn words\n");
        for (mark, sentence) in self.said {
            let lead = format!("{mark} ");
            let _ = writeln!(out, "{}", text::wrap(&lead, &sentence, text::width()));
        }
        out
    }
}

/// Says `1.52x as fast (1.40-1.60)`, or that there is no difference worth a word, or the loss.
pub(crate) fn verdict(interval: Interval, noise: Noise) -> String {
    let (low, estimate, high) = (interval.low, interval.estimate, interval.high);
    match noise.claim(interval) {
        Claim::NoDifference => format!("no measurable difference ({low:.2}-{high:.2})"),
        Claim::TooFewRounds => format!("{estimate:.2}x ({low:.2}-{high:.2}, unsure)"),
        Claim::WithinNoise => format!("{estimate:.2}x ({low:.2}-{high:.2}), within the noise"),
        Claim::Gain => format!("{estimate:.2}x as fast ({low:.2}-{high:.2})"),
        Claim::Loss => format!("a LOSS, {estimate:.2}x as fast ({low:.2}-{high:.2})"),
    }
}
