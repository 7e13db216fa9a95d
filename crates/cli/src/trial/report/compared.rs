//! The times of both sides as result files have them.

use super::gain::{Gain, KINDS, middle, times};
use crate::export::document::{Comparison, Row};
use crate::export::hyperfine::{self, Runs};
use crate::trial::answer::{Pair, Results};
use crate::trial::subject::Side;

/// Returns wall and processor times as result files show them.
pub(super) fn comparisons(gain: &Gain, command: &str, results: &Results) -> Vec<Comparison> {
    let runtime = match &results.counts {
        Ok(counts) => {
            let versions = counts.versions().into_iter().collect::<Vec<_>>();
            format!("Node {}", versions.join(", "))
        }
        Err(_) => String::new(),
    };
    let shown = [("wall time", 0), ("processor time", 3)];
    let found = shown.into_iter().filter_map(|(time, kind)| {
        let times = Side::BOTH.map(|side| times(&results.pairs, side, KINDS[kind].1));
        let row = |side: Side| {
            let samples_ns = times[side as usize].clone();
            let ratio = gain.ratios[kind].filter(|_| side == Side::With);
            Row {
                name: side.name().to_owned(),
                median_ns: middle(&samples_ns),
                samples_ns,
                ratio,
                claim: ratio.map(|ratio| gain.noise().claim(ratio)),
                phases: Vec::new(),
                flushed_by: Vec::new(),
                histogram: Vec::new(),
                error: None,
            }
        };
        let rows: Vec<Row> = Side::BOTH.map(row).into();
        rows[0].median_ns?;
        Some(Comparison {
            scenario: "try".to_owned(),
            case: format!("{command}, {time}"),
            runtime: runtime.clone(),
            sample: "run".to_owned(),
            rounds: results.pairs.len(),
            noise: None,
            cached: None,
            rows,
        })
    });
    found.collect()
}

/// Returns the times in hyperfine's form.
pub(in crate::trial) fn hyperfine(command: &str, pairs: &[Pair]) -> String {
    let runs = Side::BOTH.map(|side| {
        let [wall, user, system] = [0, 1, 2].map(|kind| {
            let times = times(pairs, side, KINDS[kind].1).into_iter().flatten();
            times.map(|ns| ns / 1e9).collect()
        });
        Runs {
            command: format!("{command} ({})", side.name()),
            wall,
            user,
            system,
        }
    });
    hyperfine::of(runs.into())
}
