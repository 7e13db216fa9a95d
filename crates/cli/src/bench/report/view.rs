//! Medians, ratios and usage by row, and the sentences about them.

use super::page::{Page, verdict};
use crate::bench::results::{CaseResult, RowResult};
use crate::bench::runtime::protocol::{Times, Usage};
use crate::bench::runtime::{Kind, Row};
use crate::output::text;
use crate::stats::claim::Noise;
use crate::stats::interval::{self, Interval};
use crate::stats::percentiles::median;

/// The nanoseconds that count of a run, of a part of it if one is named.
pub(crate) type Time = fn(&Times, &str) -> Option<f64>;

/// The rows of a case, and the time that counts of each run.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) outcomes: &'a [RowResult],
    time: Time,
    part: &'a str,
    /// Returns what sentences add to the time of a row.
    pub(crate) remark: fn(&RowResult) -> String,
}

/// Counts the whole wall time.
pub(crate) const WALL: Time = |run, _| Some(run.usage.wall_ns as f64);

/// The part that stands for the whole run.
pub(crate) const WHOLE: &str = "";

impl<'a> View<'a> {
    pub(crate) fn by<C>(result: &'a CaseResult<C>, time: Time) -> Self {
        Self {
            rows: &result.rows,
            outcomes: &result.outcomes,
            time,
            part: WHOLE,
            remark: |_| String::new(),
        }
    }

    /// Counts a part of the time.
    pub(crate) fn part(self, part: &'a str) -> Self {
        Self { part, ..self }
    }

    /// Names the part, if it is one.
    pub(crate) fn in_words(&self) -> String {
        match self.part {
            WHOLE => String::new(),
            part => format!(", {part}"),
        }
    }

    /// Returns nanoseconds by round.
    pub(crate) fn times(&self, row: usize) -> Vec<Option<f64>> {
        let runs = self.outcomes[row].runs.iter();
        runs.map(|run| (self.time)(run.as_ref()?, self.part))
            .collect()
    }

    pub(crate) fn median(&self, row: usize) -> Option<f64> {
        median(self.times(row).into_iter().flatten())
    }

    /// Returns how many times as fast as `baseline` the row is.
    pub(crate) fn ratio(&self, baseline: usize, row: usize) -> Option<Interval> {
        interval::ratio(&self.times(baseline), &self.times(row))
    }

    /// Finds the row of that name in the runtime of that name.
    pub(crate) fn find(&self, runtime: &str, implementation: &str) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| row.implementation == implementation && row.runtime.name() == runtime)
    }

    /// Shows how many times as fast as the row of that name in its own runtime it is, for Rust and
    /// the JVM in the first runtime that has it; nothing of itself.
    pub(crate) fn ratio_cell(&self, row: usize, baseline: &str) -> String {
        let runtime = &self.rows[row].runtime;
        let is_it = |other: &Row| !runtime.is_node() || other.runtime.name() == runtime.name();
        let found = self.named(baseline).find(|(_, other)| is_it(other));
        let found = found.filter(|(other, _)| *other != row);
        text::ratio(found.and_then(|(baseline, _)| self.ratio(baseline, row)))
    }

    /// Finds the row with the shortest median among those that `is_one` selects.
    pub(crate) fn fastest(&self, is_one: impl Fn(usize, &Row) -> bool) -> Option<(usize, f64)> {
        (0..self.rows.len())
            .filter(|row| is_one(*row, &self.rows[*row]))
            .filter_map(|row| Some((row, self.median(row)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(index, row)| (index, row.label.as_str()))
    }

    /// Shows a table with a line for each row, which begins with its label.
    pub(crate) fn table(
        &self,
        page: &mut Page,
        headings: &str,
        cells: impl Fn(usize) -> Vec<String>,
    ) {
        let line = |(row, label): (usize, &str)| [vec![label.to_owned()], cells(row)].concat();
        page.table(headings, self.labels().map(line));
    }

    pub(crate) fn median_cell(&self, row: usize) -> String {
        text::or_dash(self.median(row), text::millis)
    }

    /// Shows how many times as long as the row of that name it takes.
    pub(crate) fn distance_cell(&self, row: usize, raw: &str) -> String {
        let raw = self.find("Rust", raw).filter(|raw| *raw != row);
        let raw = raw
            .and_then(|raw| self.median(raw))
            .filter(|raw| *raw > 0.0);
        let times = raw.zip(self.median(row)).map(|(raw, own)| own / raw);
        text::or_dash(times, |times| format!("{times:.2}"))
    }

    /// Shows user ms, sys ms, peak MiB.
    pub(crate) fn usage_cells(&self, row: usize) -> [String; 3] {
        let typical = |of: fn(&Usage) -> u64, unit: f64| {
            let values = self.outcomes[row].done().map(|run| of(&run.usage) as f64);
            text::or_dash(median(values), |value| text::number(value / unit))
        };
        [
            typical(|usage| usage.user_ns, 1e6),
            typical(|usage| usage.sys_ns, 1e6),
            typical(|usage| usage.peak_kib, 1024.0),
        ]
    }

    /// Says how each baseline that has a row `A/A` differs from itself.
    pub(crate) fn noise(&self, page: &mut Page) {
        for (_, name, noise) in self.baselines() {
            page.noise(name, noise);
        }
    }

    /// Returns how far equal rows of that runtime differ: its baseline against itself, or the
    /// noisiest of all where it has none.
    pub(crate) fn noise_of(&self, runtime: &str) -> Noise {
        let is_own = |(row, _, _): &(&Row, _, _)| row.runtime.name() == runtime;
        let by_reach =
            |(_, _, a): &(_, _, Noise), (_, _, b): &(_, _, Noise)| a.reach().total_cmp(&b.reach());
        let own = self.baselines().filter(is_own).max_by(by_reach);
        let found = own.or_else(|| self.baselines().max_by(by_reach));
        let unknown = Noise {
            itself: None,
            rounds: self.rounds(),
        };
        found.map_or(unknown, |(_, _, noise)| noise)
    }

    pub(crate) fn rounds(&self) -> usize {
        let rounds = self.outcomes.iter().map(|row| row.runs.len()).max();
        rounds.unwrap_or(0)
    }

    /// Returns the rows named `A/A`, with the name of the baseline that each is once more.
    fn baselines(&self) -> impl Iterator<Item = (&'a Row, &'a str, Noise)> {
        self.rows.iter().enumerate().filter_map(|(itself, row)| {
            let name = row.original()?;
            let baseline = self.find(row.runtime.name(), name)?;
            let noise = Noise {
                itself: self.ratio(baseline, itself),
                rounds: self.rounds(),
            };
            Some((row, name, noise))
        })
    }

    /// Says in a sentence for each line how long its first row takes, and how the others of the
    /// same runtime compare with it; `|` separates their names. Rows of every runtime are compared
    /// with raw system calls, which nothing can undercut: how many times as long they take.
    /// `words` begin the sentence.
    pub(crate) fn compare(
        &self,
        page: &mut Page,
        words: impl Fn(&Row) -> String,
        lines: &[impl AsRef<str>],
    ) {
        for line in lines {
            let mut names = line.as_ref().split('|');
            let first = names.next().unwrap_or_default();
            let names: Vec<&str> = names.collect();
            for (baseline, of) in self.named(first) {
                let is_raw = first.starts_with("raw ");
                let is_compared = |row: &Row| is_raw || row.runtime.name() == of.runtime.name();
                let others = names.iter().flat_map(|name| self.named(name));
                let others = others.filter(|(_, row)| is_compared(row));
                let noise = self.noise_of(of.runtime.name());
                let others: Vec<String> = others
                    .filter_map(|(row, of)| {
                        let compared = if is_raw {
                            let ratio = self.ratio(row, baseline)?;
                            format!("{} as long", text::ratio(Some(ratio)))
                        } else {
                            verdict(self.ratio(baseline, row)?, noise)
                        };
                        Some(format!(
                            "{} {}, {compared}",
                            of.implementation,
                            self.takes(row)?
                        ))
                    })
                    .collect();
                if let Some(takes) = self.takes(baseline).filter(|_| !others.is_empty()) {
                    let (words, others) = (words(of), others.join("; "));
                    page.say(format!("{words}: {first} {takes}; {others}."));
                }
            }
        }
    }

    fn named(&self, name: &str) -> impl Iterator<Item = (usize, &'a Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| row.implementation == name)
    }

    fn takes(&self, row: usize) -> Option<String> {
        let remark = (self.remark)(&self.outcomes[row]);
        Some(format!("{}{remark}", text::duration(self.median(row)?)))
    }
}

/// Names the place of a row in a sentence: `on v26.10.0` or `in Rust`.
pub(crate) fn place(row: &Row) -> String {
    let is_native = row.runtime.kind == Kind::Native;
    let at = if is_native { "in" } else { "on" };
    format!("{at} {}", row.runtime.name())
}
