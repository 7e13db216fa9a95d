//! A bootstrap interval on the ratio of medians.
//!
//! Samples of one process are alike (same heap, same code layout, same moment), so they are not
//! what is resampled. Each round gives one number: the ratio of the two rows' medians in that
//! round, where they ran side by side. The estimate is the centre of those ratios, the interval
//! comes from resampling whole rounds. Times of I/O are far from normal; neither step supposes that
//! they are.
//!
//! The centre is the Hodges-Lehmann estimate on logarithms: the median of the means of all pairs.
//! It withstands a quarter of wild rounds, as a median does, and is nearly as sharp as the mean
//! with few rounds. Sources: Hodges and Lehmann (1963), "Estimates of location based on rank
//! tests"; Efron and Tibshirani (1993), "An introduction to the bootstrap", percentile interval;
//! Hesterberg (2015), "What teachers should know about the bootstrap", its widening for few
//! observations.

use super::percentiles::{median, quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::statistics::Statistics;

const RESAMPLES: usize = 1000;

/// An estimate and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) estimate: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// Returns true if the interval leaves open which row is faster.
    pub(crate) fn holds_one(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }
}

/// Returns how many times as fast as `baseline` the `candidate` is, from medians per round. A round
/// that either lacks is left out; `None` when no round has both.
pub(crate) fn ratio(
    baseline: &[Option<f64>],
    candidate: &[Option<f64>],
    seed: u64,
) -> Option<Interval> {
    geometric_mean(&[log_ratios(baseline, candidate)], seed)
}

/// Returns how many times as fast as `baseline` the `candidate` is, from samples that were not
/// taken side by side: the centre of the ratios of all pairs, and an interval from resampling each.
pub(crate) fn unpaired(baseline: &[f64], candidate: &[f64], seed: u64) -> Option<Interval> {
    let logs = |times: &[f64]| -> Vec<f64> {
        let positive = times.iter().filter(|time| **time > 0.0);
        positive.map(|time| time.ln()).collect()
    };
    let [baseline, candidate] = [baseline, candidate].map(logs);
    let shift = |baseline: &[f64], candidate: &[f64]| {
        let pairs = baseline
            .iter()
            .flat_map(|base| candidate.iter().map(move |it| base - it));
        median(pairs)
    };
    let tail = tail(baseline.len().min(candidate.len()))?;
    let estimate = shift(&baseline, &candidate)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = |from: &[f64]| -> Vec<f64> {
        (0..from.len())
            .map(|_| from[random.usize(..from.len())])
            .collect()
    };
    let resampled = (0..RESAMPLES).map(|_| shift(&draw(&baseline), &draw(&candidate)));
    let mut resampled: Vec<f64> = resampled.collect::<Option<_>>()?;
    resampled.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: quantile(&resampled, tail).exp(),
        estimate: estimate.exp(),
        high: quantile(&resampled, 1.0 - tail).exp(),
    })
}

/// Returns the logarithm of baseline / candidate, per round.
pub(crate) fn log_ratios(baseline: &[Option<f64>], candidate: &[Option<f64>]) -> Vec<Option<f64>> {
    let log = |(base, cand): (&Option<f64>, &Option<f64>)| {
        let ratio = (*base)? / (*cand)?;
        (ratio.is_normal() && ratio > 0.0).then(|| ratio.ln())
    };
    baseline.iter().zip(candidate).map(log).collect()
}

/// Returns the geometric mean over cells of their ratios, given each cell's [`log_ratios`]. Rounds
/// are resampled for all cells at once, because the cells of a round ran in the same processes.
pub(crate) fn geometric_mean(cells: &[Vec<Option<f64>>], seed: u64) -> Option<Interval> {
    let rounds = cells.iter().map(Vec::len).max()?;
    let all: Vec<usize> = (0..rounds).collect();
    let is_observed = |round: &&usize| cells.iter().any(|cell| at(cell, **round).is_some());
    let tail = tail(all.iter().filter(is_observed).count())?;
    let estimate = mean_of_centres(cells, &all)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut drawn = vec![0; rounds];
    let mut resampled = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| random.usize(..rounds));
        resampled.extend(mean_of_centres(cells, &drawn));
    }
    resampled.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: quantile(&resampled, tail).exp(),
        estimate: estimate.exp(),
        high: quantile(&resampled, 1.0 - tail).exp(),
    })
}

fn at(cell: &[Option<f64>], round: usize) -> Option<f64> {
    cell.get(round).copied().flatten()
}

/// Returns the quantile of the resampled values that bounds a 95 % interval. With few observations
/// the plain 2.5 % gives too narrow an interval, by the factors by which the normal distribution is
/// narrower than Student's; one observation tells nothing.
fn tail(observations: usize) -> Option<f64> {
    let n = observations as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.025);
    Some(Normal::standard().cdf(student * (n / (n - 1.0)).sqrt()))
}

fn mean_of_centres(cells: &[Vec<Option<f64>>], rounds: &[usize]) -> Option<f64> {
    let centre = |cell: &Vec<_>| {
        let values = rounds.iter().filter_map(|round| at(cell, *round));
        centre(&values.collect::<Vec<f64>>())
    };
    let centres: Vec<f64> = cells.iter().filter_map(centre).collect();
    (!centres.is_empty()).then(|| centres.mean())
}

fn centre(values: &[f64]) -> Option<f64> {
    let pairs = |(index, a): (usize, &f64)| {
        let a = *a;
        values[index..].iter().map(move |b| f64::midpoint(a, *b))
    };
    median(values.iter().enumerate().flat_map(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn centre_is_the_median_of_pairwise_means() {
        // Pairs of 1, 2, 10: 1, 1.5, 5.5, 2, 6, 10; median (2 + 5.5) / 2.
        assert_eq!(centre(&[1.0, 2.0, 10.0]), Some(3.75));
        assert_eq!(centre(&[5.0, 1.0]), Some(3.0));
        assert_eq!(centre(&[]), None);
    }

    #[test]
    fn a_constant_ratio_has_no_width() {
        let baseline = some(&[2.0, 4.0, 6.0, 8.0]);
        let candidate = some(&[1.0, 2.0, 3.0, 4.0]);
        let interval = ratio(&baseline, &candidate, 1).unwrap();
        for value in [interval.low, interval.estimate, interval.high] {
            assert!((value - 2.0).abs() < 1e-12);
        }
        assert!(!interval.holds_one());
    }

    #[test]
    fn equal_rows_under_noise_hold_one_about_as_often_as_promised() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut row = || -> Vec<Option<f64>> {
            (0..20)
                .map(|_| Some(100.0 * (1.0 + 0.2 * (random.f64() - 0.5))))
                .collect()
        };
        let held = (0..200_u64)
            .filter(|seed| ratio(&row(), &row(), *seed).unwrap().holds_one())
            .count();
        assert!((175..=200).contains(&held), "{held} of 200");
    }

    #[test]
    fn one_wild_round_does_not_move_the_estimate() {
        let mut baseline = some(&[100.0; 12]);
        baseline[3] = Some(10_000.0);
        let interval = ratio(&baseline, &some(&[100.0; 12]), 1).unwrap();
        assert!((interval.estimate - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rounds_that_a_row_missed_are_left_out() {
        let baseline = vec![Some(2.0), None, Some(2.0), Some(2.0)];
        let candidate = vec![Some(1.0), Some(1.0), None, Some(1.0)];
        assert!((ratio(&baseline, &candidate, 1).unwrap().estimate - 2.0).abs() < 1e-12);
        assert_eq!(ratio(&[None], &[Some(1.0)], 1), None);
    }

    #[test]
    fn few_rounds_widen_the_interval() {
        // Of 5 observations: Student's 2.776 (4 degrees) times the root of 5 / 4 is 3.104, beyond
        // which lies 0.00096 of a normal tail.
        assert!(tail(1).is_none());
        assert!((tail(5).unwrap() - 0.0010).abs() < 2e-4, "{:?}", tail(5));
        assert!((tail(20).unwrap() - 0.0159).abs() < 5e-4, "{:?}", tail(20));
        assert!((tail(100_000).unwrap() - 0.025).abs() < 1e-4);
    }

    #[test]
    fn the_geometric_mean_is_over_cells() {
        let cells = [vec![Some(2.0_f64.ln()); 5], vec![Some(8.0_f64.ln()); 5]];
        assert!((geometric_mean(&cells, 1).unwrap().estimate - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_seed_gives_the_same_interval_again() {
        let baseline = some(&[1.0, 1.2, 0.9, 1.1]);
        let candidate = some(&[1.0, 0.8, 1.3, 1.0]);
        assert_eq!(
            ratio(&baseline, &candidate, 5),
            ratio(&baseline, &candidate, 5)
        );
    }
}
