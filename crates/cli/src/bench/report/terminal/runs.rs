//! What the scenarios share of which every run is a process of its own: medians, ratios and usage by row and part of the work, and
//! the sentences about them.

use super::{Sentences, text, verdict};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::Usage;
use crate::bench::stats::bootstrap::{self, Interval};
use crate::bench::stats::percentiles::median;

/// Results by row and by part of the work: a phase, a case.
pub(super) trait Runs {
    type Part: Copy;

    fn rows(&self) -> &[Row];

    /// Nanoseconds by round.
    fn times(&self, row: usize, part: Self::Part) -> Vec<Option<f64>>;

    /// Of every run there was.
    fn usages(&self, row: usize, part: Self::Part) -> Vec<Usage>;
}

/// Results, and the arithmetic that every part of a report needs.
pub(super) struct View<'a, R> {
    pub(super) results: &'a R,
    pub(super) seed: u64,
}

/// A part of the work, and how to call it.
pub(super) type Named<'a, Part> = (Part, &'a str);

/// The row of that name in the runtime of that name.
pub(super) fn find(rows: &[Row], runtime: &str, implementation: &str) -> Option<usize> {
    rows.iter()
        .position(|row| row.implementation == implementation && row.runtime.name() == runtime)
}

impl<R: Runs> View<'_, R> {
    pub(super) fn median(&self, row: usize, part: R::Part) -> Option<f64> {
        median(self.results.times(row, part).into_iter().flatten())
    }

    /// How many times as fast as `baseline` the row is.
    pub(super) fn ratio(&self, baseline: usize, row: usize, part: R::Part) -> Option<Interval> {
        bootstrap::ratio(
            &self.results.times(baseline, part),
            &self.results.times(row, part),
            self.seed,
        )
    }

    pub(super) fn find(&self, runtime: &str, implementation: &str) -> Option<usize> {
        find(self.results.rows(), runtime, implementation)
    }

    /// What a row is compared with: its own Node's idiom, for Rust the first Node's.
    fn baseline(&self, row: usize, idiom: &str) -> Option<usize> {
        let rows = self.results.rows();
        let runtime = &rows[row].runtime;
        let same =
            |index: &usize| !runtime.is_node() || rows[*index].runtime.name() == runtime.name();
        (0..rows.len())
            .filter(|index| rows[*index].implementation == idiom)
            .find(same)
    }

    pub(super) fn labels(&self) -> impl Iterator<Item = (usize, &str)> {
        let rows = self.results.rows().iter().enumerate();
        rows.map(|(index, row)| (index, row.label.as_str()))
    }

    pub(super) fn median_cell(&self, row: usize, part: R::Part) -> String {
        self.median(row, part)
            .map_or_else(|| "-".to_owned(), text::millis)
    }

    /// How many times as long as the row of that name it takes.
    pub(super) fn distance_cell(&self, row: usize, part: R::Part, floor: &str) -> String {
        let floor = self.find("Rust", floor).filter(|floor| *floor != row);
        match (
            floor.and_then(|floor| self.median(floor, part)),
            self.median(row, part),
        ) {
            (Some(floor), Some(own)) if floor > 0.0 => format!("{:.2}", own / floor),
            _ => "-".to_owned(),
        }
    }

    /// Against each of `idioms`, but not against itself.
    pub(super) fn ratio_cells(&self, row: usize, part: R::Part, idioms: [&str; 2]) -> [String; 2] {
        idioms.map(|idiom| {
            let baseline = self
                .baseline(row, idiom)
                .filter(|baseline| *baseline != row);
            text::ratio(baseline.and_then(|baseline| self.ratio(baseline, row, part)))
        })
    }

    /// User ms, sys ms, peak MiB.
    pub(super) fn usage_cells(&self, row: usize, part: R::Part) -> [String; 3] {
        let usages = self.results.usages(row, part);
        let typical = |of: fn(&Usage) -> u64, unit: f64| {
            median(usages.iter().map(|usage| of(usage) as f64))
                .map_or_else(|| "-".to_owned(), |value| text::number(value / unit))
        };
        [
            typical(|usage| usage.user_ns, 1e6),
            typical(|usage| usage.sys_ns, 1e6),
            typical(|usage| usage.peak_kib, 1024.0),
        ]
    }

    /// One sentence a part: what the idioms take, and how smallfry's counterpart of each compares.
    pub(super) fn costs(
        &self,
        said: &mut Sentences,
        runtime: &str,
        parts: &[Named<R::Part>],
        pairs: &[(&str, &str)],
    ) {
        for (part, words) in parts {
            let mut idioms = Vec::new();
            let mut verdicts = Vec::new();
            for (idiom, ours) in pairs {
                let Some(baseline) = self.find(runtime, idiom) else {
                    continue;
                };
                if let Some(ns) = self.median(baseline, *part) {
                    let takes = format!("{idiom} {}", text::duration(ns));
                    if !idioms.contains(&takes) {
                        idioms.push(takes);
                    }
                }
                if let Some(ratio) = self
                    .find(runtime, ours)
                    .and_then(|row| self.ratio(baseline, row, *part))
                {
                    verdicts.push(format!("{ours} {}", verdict(ratio)));
                }
            }
            if !verdicts.is_empty() {
                said.say(format!(
                    "{words}: {}; {}.",
                    idioms.join(", "),
                    verdicts.join(", ")
                ));
            }
        }
    }

    /// Where calling one after another and `Promise.all` each win.
    pub(super) fn reversal(
        &self,
        said: &mut Sentences,
        disk: &str,
        [sync, parallel]: [usize; 2],
        parts: &[Named<R::Part>],
    ) {
        let mut sides: [Vec<String>; 2] = Default::default();
        for (part, words) in parts {
            let Some(interval) = self
                .ratio(sync, parallel, *part)
                .filter(|interval| !interval.holds_one())
            else {
                continue;
            };
            let Interval {
                low,
                estimate,
                high,
            } = interval;
            if estimate > 1.0 {
                sides[1].push(format!("{words} {estimate:.2}x ({low:.2}-{high:.2})"));
            } else {
                sides[0].push(format!(
                    "{words} {:.2}x ({:.2}-{:.2})",
                    1.0 / estimate,
                    1.0 / high,
                    1.0 / low
                ));
            }
        }
        let side = |name: &str, parts: &[String]| match parts {
            [] => format!("{name} nowhere"),
            parts => format!("{name} at {}", parts.join(", ")),
        };
        said.say(format!(
            "which idiom to choose: on {disk}, {}; {}.",
            side("Node sync wins", &sides[0]),
            side("Node Promise.all wins", &sides[1])
        ));
    }
}
