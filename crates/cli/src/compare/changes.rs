//! How many times as fast each row has become.

use crate::export::Document;
use crate::export::document::{Bucket, Comparison, Row};
use crate::stats::claim::{Claim, Noise};
use crate::stats::interval::{self, Interval};
use serde::Serialize;
use std::collections::BTreeSet;

/// The rows that both files have.
#[derive(Serialize)]
pub(super) struct Changes {
    pub(super) rows: Vec<Change>,
    /// The rows that only one file has.
    pub(super) only_old: Vec<String>,
    pub(super) only_new: Vec<String>,
}

/// A row, before and after.
#[derive(Serialize)]
pub(super) struct Change {
    /// The scenario, the case and the runtime.
    pub(super) case: String,
    pub(super) name: String,
    /// True if other rows of its case are compared with it.
    pub(super) is_baseline: bool,
    pub(super) old_median_ns: Option<f64>,
    pub(super) new_median_ns: Option<f64>,
    /// The 99th percentiles of samples, where samples are timed alone.
    pub(super) old_p99_ns: Option<u64>,
    pub(super) new_p99_ns: Option<u64>,
    /// How many times as fast as before the row is.
    pub(super) ratio: Option<Interval>,
    pub(super) claim: Claim,
    /// True if it is certainly slower by more than what is allowed.
    pub(super) is_regression: bool,
    /// True if the interval is too wide to find a change as large as what is allowed.
    pub(super) is_blind: bool,
}

impl Changes {
    /// `allowed` is the part by which a row may take longer.
    pub(super) fn between(old: &Document, new: &Document, allowed: Option<f64>) -> Self {
        let mut changes = Self {
            rows: Vec::new(),
            only_old: Vec::new(),
            only_new: Vec::new(),
        };
        let mut known = BTreeSet::new();
        for before in &old.comparisons {
            // Equal rows differ by as much as the baseline may have moved.
            let mut moved = 1.0;
            for (index, row) in before.rows.iter().enumerate() {
                let name = label(before, row);
                let found = find(old, new, before, row);
                known.extend(found.map(|(after, row)| label(after, row)));
                match found {
                    Some((after, it)) => {
                        let mut change = change([before, after], [row, it], moved, allowed);
                        change.is_baseline = index == 0;
                        // That of `try` is the user's own program.
                        if index == 0 && before.scenario != "try" {
                            moved = change
                                .ratio
                                .map_or(1.0, |ratio| ratio.high.max(1.0 / ratio.low));
                        }
                        changes.rows.push(change);
                    }
                    None => changes.only_old.push(name),
                }
            }
        }
        for after in &new.comparisons {
            let names = after.rows.iter().map(|row| label(after, row));
            changes
                .only_new
                .extend(names.filter(|name| !known.contains(name)));
        }
        changes
    }

    pub(super) fn has_regression(&self) -> bool {
        self.rows.iter().any(|row| row.is_regression)
    }

    pub(super) fn json(&self, differences: &[String]) -> String {
        let mut document = serde_json::json!(self);
        document["differences"] = differences.into();
        format!("{document}\n")
    }
}

fn label(comparison: &Comparison, row: &Row) -> String {
    format!("{}, {}", comparison.title(), row.name)
}

/// Finds the same row in the other file. A version of a runtime may differ where each file has one
/// of its kind.
fn find<'a>(
    old: &Document,
    new: &'a Document,
    before: &Comparison,
    row: &Row,
) -> Option<(&'a Comparison, &'a Row)> {
    let is_alone = |document: &Document| {
        let names: BTreeSet<&str> = document
            .comparisons
            .iter()
            .map(|it| it.runtime.as_str())
            .filter(|name| kind(name) == kind(&before.runtime))
            .collect();
        names.len() == 1
    };
    let any_version = is_alone(old) && is_alone(new);
    let is_it = |it: &&Comparison| {
        it.scenario == before.scenario
            && it.case == before.case
            && (it.runtime == before.runtime
                || any_version && kind(&it.runtime) == kind(&before.runtime))
    };
    let mut found = new.comparisons.iter().filter(is_it);
    found.find_map(|it| Some((it, it.rows.iter().find(|found| found.name == row.name)?)))
}

/// Returns the name of a runtime without its version.
fn kind(runtime: &str) -> &str {
    runtime.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// `moved` is the factor by which the baseline of the row may have changed.
fn change(
    [old, new]: [&Comparison; 2],
    [before, after]: [&Row; 2],
    moved: f64,
    allowed: Option<f64>,
) -> Change {
    let samples = |row: &Row| row.samples().collect::<Vec<f64>>();
    let ratio = interval::unpaired(&samples(before), &samples(after));
    let [old_noise, new_noise] = [old, new].map(Comparison::decider);
    let noisier = if old_noise.reach() > new_noise.reach() {
        old_noise
    } else {
        new_noise
    };
    let reach = noisier.reach().max(moved);
    let noise = Noise {
        itself: Some(Interval {
            low: 1.0 / reach,
            estimate: 1.0,
            high: reach,
        }),
        rounds: old.rounds.min(new.rounds),
    };
    let claim = ratio.map_or(Claim::TooFewRounds, |ratio| noise.claim(ratio));
    let slower = ratio.map_or(0.0, |ratio| 1.0 / ratio.estimate - 1.0);
    let width = ratio.map_or(f64::INFINITY, |ratio| (ratio.high / ratio.low).sqrt() - 1.0);
    let seen_from = width.max(noise.reach() - 1.0);
    Change {
        case: new.title(),
        name: after.name.clone(),
        is_baseline: false,
        old_median_ns: before.median_ns,
        new_median_ns: after.median_ns,
        old_p99_ns: p99(&before.histogram),
        new_p99_ns: p99(&after.histogram),
        ratio,
        claim,
        is_regression: claim == Claim::Loss && allowed.is_some_and(|allowed| slower > allowed),
        is_blind: claim == Claim::TooFewRounds
            || allowed.is_some_and(|allowed| seen_from > allowed),
    }
}

fn p99(histogram: &[Bucket]) -> Option<u64> {
    let all: u64 = histogram.iter().map(|bucket| bucket.count).sum();
    let mut left = (all as f64 * 0.99).ceil() as u64;
    let found = histogram.iter().find(|bucket| {
        left = left.saturating_sub(bucket.count);
        left == 0
    });
    found.map(|bucket| bucket.ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_known_without_its_version() {
        assert_eq!(kind("Node v24.1.0"), "Node v");
        assert_eq!(kind("Bun 1.4.4"), "Bun ");
        assert_eq!(kind("Rust"), "Rust");
    }

    #[test]
    fn p99_is_found_by_counting() {
        let bucket = |ns, count| Bucket { ns, count };
        assert_eq!(p99(&[bucket(1, 98), bucket(2, 1), bucket(9, 1)]), Some(2));
        assert_eq!(p99(&[]), None);
    }
}
