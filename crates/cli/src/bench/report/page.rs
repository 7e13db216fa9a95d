//! A page for the terminal: tables and notes first, then sentences.

use crate::bench::results::Results;
use crate::bench::session::Session;
use crate::output::screen::Screen;
use crate::output::text;
use crate::stats::claim::{Claim, ENOUGH_ROUNDS, Noise};
use crate::stats::interval::Interval;
use std::fmt::{Display, Write as _};

/// A baseline that may differ from itself by more deserves a warning.
const NOISY: f64 = 8.0;

#[derive(Default)]
pub(crate) struct Page(Vec<Part>);

/// The report of a scenario.
#[derive(Default)]
struct Part {
    /// The answer on one screen. A scenario without one shows its details.
    screen: String,
    failures: String,
    out: String,
    /// Sentences, each with its mark.
    said: Vec<(&'static str, String)>,
}

impl Page {
    /// Begins a scenario with its screen.
    pub(crate) fn screen(&mut self, screen: Screen) {
        self.0.push(Part {
            screen: screen.finish(),
            ..Part::default()
        });
    }

    fn part(&mut self) -> &mut Part {
        if self.0.is_empty() {
            self.0.push(Part::default());
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Begins a scenario, or the details of one that has begun with its screen.
    pub(crate) fn title(&mut self, name: &str, session: &Session, what: &str, rounds: usize) {
        let title = format!(
            "{name} on {}: {what}; {rounds} rounds, a fresh process for every run",
            session.disk_words()
        );
        if !self.0.last().is_some_and(|part| part.out.is_empty()) {
            self.0.push(Part::default());
        }
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
        let out = &mut self.part().out;
        out.push_str(line);
        out.push('\n');
    }

    /// Puts lines under headings that `|` separates; all columns but the first to the right, and
    /// those whose headings begin with `<`.
    pub(crate) fn table(&mut self, headings: &str, lines: impl IntoIterator<Item = Vec<String>>) {
        let mut table = text::table(&headings.split('|').collect::<Vec<_>>());
        table.add_rows(lines);
        if !table.is_empty() {
            text::put(&mut self.part().out, &table);
        }
    }

    /// Lists the rows that failed.
    pub(crate) fn failures<C: Display>(&mut self, results: &Results<C>) {
        for result in &results.cases {
            for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
                if let Some(error) = &outcome.error {
                    let (case, label) = (&result.case, &row.label);
                    let line = format!("  FAILED  {case}, {label}: {error}\n");
                    self.part().failures.push_str(&line);
                }
            }
        }
    }

    /// Names the subject of the next sentences.
    pub(crate) fn about(&mut self, subject: impl Into<String>) {
        self.part().said.push(("  ", subject.into()));
    }

    pub(crate) fn say(&mut self, sentence: impl Into<String>) {
        self.part().said.push(("  - ", sentence.into()));
    }

    /// Says something that the reader should know before believing the rest.
    pub(crate) fn warn(&mut self, sentence: impl Into<String>) {
        self.part().said.push(("  ! ", sentence.into()));
    }

    pub(crate) fn detail(&mut self, detail: impl Into<String>) {
        self.part().said.push(("      ", detail.into()));
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

    /// Returns true if each scenario has a screen.
    pub(crate) fn has_screens(&self) -> bool {
        self.0.iter().all(|part| !part.screen.is_empty())
    }

    /// Returns the screens, and of scenarios without one, or if `details` are wanted, the tables
    /// and then the sentences.
    pub(crate) fn finish(self, details: bool) -> String {
        let mut out = String::new();
        for part in self.0 {
            out.push_str(&part.screen);
            if !details && !part.screen.is_empty() {
                out.push_str(&part.failures);
                continue;
            }
            out.push_str(&part.out);
            out.push_str(&part.failures);
            out.push_str("\nIn words\n");
            for (mark, sentence) in part.said {
                let lead = format!("{mark} ");
                let _ = writeln!(out, "{}", text::wrap(&lead, &sentence, text::width()));
            }
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
