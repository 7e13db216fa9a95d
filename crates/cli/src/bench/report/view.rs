//! Medians, ratios and usage by row, and the sentences about them.

use super::page::{Page, verdict};
use super::text;
use crate::bench::results::{CaseResult, RowResult};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Times, Usage};
use crate::bench::session::Session;
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::percentiles::median;

/// The nanoseconds that count of a run, of a part of it if one is named.
pub(crate) type Time = fn(&Times, &str) -> Option<f64>;

/// The rows of a case, and the time that counts of each run.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) outcomes: &'a [RowResult],
    time: Time,
    part: &'a str,
    seed: u64,
}

/// The part that stands for the whole run.
pub(crate) const WHOLE: &str = "";

impl<'a> View<'a> {
    /// Counts the whole wall time.
    pub(crate) fn of<C>(session: &Session, result: &'a CaseResult<C>) -> Self {
        Self::by(session.options.seed, result, |run, _| {
            Some(run.usage.wall_ns as f64)
        })
    }

    pub(crate) fn by<C>(seed: u64, result: &'a CaseResult<C>, time: Time) -> Self {
        Self {
            rows: &result.rows,
            outcomes: &result.outcomes,
            time,
            part: WHOLE,
            seed,
        }
    }

    /// Counts a part of the time.
    pub(crate) fn part(self, part: &'a str) -> Self {
        Self { part, ..self }
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
        bootstrap::ratio(&self.times(baseline), &self.times(row), self.seed)
    }

    /// Finds the row of that name in the runtime of that name.
    pub(crate) fn find(&self, runtime: &str, implementation: &str) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| row.implementation == implementation && row.runtime.name() == runtime)
    }

    /// Finds the row that a row is compared with: its own Node's idiom, for Rust the first Node's.
    fn baseline(&self, row: usize, idiom: &str) -> Option<usize> {
        let runtime = &self.rows[row].runtime;
        self.rows.iter().position(|other| {
            let same = !runtime.is_node() || other.runtime.name() == runtime.name();
            same && other.implementation == idiom
        })
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

    /// Shows the ratio to each of `idioms`, but not to itself.
    pub(crate) fn ratio_cells(&self, row: usize, idioms: [&str; 2]) -> [String; 2] {
        idioms.map(|idiom| {
            let baseline = self.baseline(row, idiom).filter(|other| *other != row);
            text::ratio(baseline.and_then(|baseline| self.ratio(baseline, row)))
        })
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

    /// Says how the baseline differs from itself.
    pub(crate) fn noise(
        &self,
        page: &mut Page,
        runtime: &str,
        [baseline, itself]: [&str; 2],
        name: &str,
        rounds: usize,
    ) {
        if let (Some(baseline), Some(itself)) =
            (self.find(runtime, baseline), self.find(runtime, itself))
        {
            page.noise(name, self.ratio(baseline, itself), rounds);
        }
    }

    /// Says what the idioms take, and how smallfry's counterpart of each compares.
    pub(crate) fn costs(
        &self,
        page: &mut Page,
        runtime: &str,
        words: &str,
        pairs: &[(&str, &str)],
    ) {
        let mut idioms = Vec::new();
        let mut verdicts = Vec::new();
        for (idiom, ours) in pairs {
            let Some(baseline) = self.find(runtime, idiom) else {
                continue;
            };
            if let Some(ns) = self.median(baseline) {
                let takes = format!("{idiom} {}", text::duration(ns));
                if !idioms.contains(&takes) {
                    idioms.push(takes);
                }
            }
            let ratio = self.find(runtime, ours);
            if let Some(ratio) = ratio.and_then(|row| self.ratio(baseline, row)) {
                verdicts.push(format!("{ours} {}", verdict(ratio)));
            }
        }
        if !verdicts.is_empty() {
            let (idioms, verdicts) = (idioms.join(", "), verdicts.join(", "));
            page.say(format!("{words}: {idioms}; {verdicts}."));
        }
    }
}
