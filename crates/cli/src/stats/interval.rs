//! The ratio of two rows' times, and its 95 % interval.
//!
//! Samples of one process are alike (same heap, same code layout, same moment), so a round counts
//! once: by the ratio of the two rows' medians in that round, where they ran side by side. The
//! estimate is the mean of the logarithms of these ratios without the largest and the smallest
//! fifth. Student's distribution gives the interval, from the spread of what is left.
//!
//! On a busy machine one round of six is often wild. This mean and its interval leave it out. A
//! bootstrap draws such a round several times, and its interval then reaches as far: in simulated
//! runs of six rounds, of which each takes five times as long with a chance of a tenth, it left
//! open whether a row was 1.3 times as fast in 85 of 100, and this one in 28. Both held the true
//! ratio in 95 to 97 of 100.
//!
//! Sources: Tukey and `McLaughlin` (1963), "Less vulnerable confidence and significance procedures
//! for location based on a single sample"; Yuen (1974), "The two-sample trimmed t for unequal
//! population variances"; Wilcox (2012), "Introduction to robust estimation and hypothesis
//! testing", for the fifth.

use super::percentiles::median;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

/// The number of values for each one that is left out at either end.
const VALUES_PER_TRIMMED: usize = 5;

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

    /// Returns false for an interval of no ratios.
    pub(crate) fn is_ordered(self) -> bool {
        0.0 < self.low && self.low <= self.estimate && self.estimate <= self.high
    }

    /// Makes one of logarithms.
    fn of_logs(estimate: f64, half: f64) -> Self {
        Self {
            low: (estimate - half).exp(),
            estimate: estimate.exp(),
            high: (estimate + half).exp(),
        }
    }
}

/// Returns how many times as fast as `baseline` the `candidate` is, from medians per round. A round
/// that either lacks is left out; `None` with fewer than two rounds that have both.
pub(crate) fn ratio(baseline: &[Option<f64>], candidate: &[Option<f64>]) -> Option<Interval> {
    geometric_mean(&[log_ratios(baseline, candidate)])
}

/// Returns how many times as fast as `baseline` the `candidate` is, from samples that were not
/// taken side by side. `None` with fewer than two samples of either.
pub(crate) fn unpaired(baseline: &[f64], candidate: &[f64]) -> Option<Interval> {
    let mean = |times: &[f64]| {
        let positive = times.iter().filter(|time| **time > 0.0);
        TrimmedMean::of(positive.map(|time| time.ln()).collect())
    };
    let (baseline, candidate) = (mean(baseline)?, mean(candidate)?);
    let estimate = baseline.value - candidate.value;
    Some(Interval::of_logs(estimate, half(&[baseline, candidate])))
}

/// Returns the logarithm of baseline / candidate, per round.
pub(crate) fn log_ratios(baseline: &[Option<f64>], candidate: &[Option<f64>]) -> Vec<Option<f64>> {
    let log = |(base, cand): (&Option<f64>, &Option<f64>)| {
        let ratio = (*base)? / (*cand)?;
        (ratio.is_normal() && ratio > 0.0).then(|| ratio.ln())
    };
    baseline.iter().zip(candidate).map(log).collect()
}

/// Returns the geometric mean over cells of their ratios, given each cell's [`log_ratios`]. A round
/// counts once for all cells, because its cells ran in the same processes: by the mean of their
/// distances from what each cell has over all rounds.
pub(crate) fn geometric_mean(cells: &[Vec<Option<f64>>]) -> Option<Interval> {
    let centre = |cell: &Vec<Option<f64>>| {
        let values: Vec<f64> = cell.iter().copied().flatten().collect();
        // The mean of one value is that value.
        TrimmedMean::of(values.clone()).map_or_else(|| median(values), |mean| Some(mean.value))
    };
    let centres: Vec<Option<f64>> = cells.iter().map(centre).collect();
    let rounds = cells.iter().map(Vec::len).max()?;
    let distance = |round: usize| {
        let cells = cells.iter().zip(&centres);
        let of_cells = cells.filter_map(|(cell, centre)| Some((*cell.get(round)?)? - (*centre)?));
        let of_cells: Vec<f64> = of_cells.collect();
        (!of_cells.is_empty()).then(|| of_cells.mean())
    };
    let distances = TrimmedMean::of((0..rounds).filter_map(distance).collect())?;
    let estimate = centres.into_iter().flatten().collect::<Vec<f64>>().mean();
    Some(Interval::of_logs(estimate, half(&[distances])))
}

/// The mean of what is left without the largest and the smallest values.
struct TrimmedMean {
    value: f64,
    /// The square of its standard error.
    variance: f64,
    freedom: f64,
}

impl TrimmedMean {
    /// `None` of fewer than two values.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let trimmed = values.len() / VALUES_PER_TRIMMED;
        let kept = trimmed..values.len() - trimmed;
        let value = values[kept.clone()].mean();
        // The spread is that of all values, with those that are left out as far away as the nearest
        // that is kept.
        let (least, most) = (values[kept.start], values[kept.end - 1]);
        for value in &mut values {
            *value = value.clamp(least, most);
        }
        let (all, left) = (values.len() as f64, kept.len() as f64);
        let freedom = left - 1.0;
        Some(Self {
            value,
            variance: values.variance() * (all - 1.0) / (left * freedom),
            freedom,
        })
    }
}

/// Returns half of the 95 % interval of a mean, or of the difference of two.
fn half(means: &[TrimmedMean]) -> f64 {
    let variance: f64 = means.iter().map(|mean| mean.variance).sum();
    let parts = means.iter().map(|it| it.variance.powi(2) / it.freedom);
    let freedom = variance.powi(2) / parts.sum::<f64>();
    // There is no distribution of means that do not vary at all.
    let student = StudentsT::new(0.0, 1.0, freedom);
    student.map_or(0.0, |student| student.inverse_cdf(0.975) * variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn a_trimmed_mean_and_its_error_are_those_of_the_definition() {
        // Of 1 to 9 and 100, two go at each end: 3 to 8 are left, and the spread is that of
        // 3 3 3 4 5 6 7 8 8 8, whose squares of distances from 5.5 add up to 42.5.
        let values: Vec<f64> = (1..10).map(f64::from).chain([100.0]).collect();
        let mean = TrimmedMean::of(values).unwrap();
        assert!(near(mean.value, 5.5));
        assert!(near(mean.variance, 42.5 / 30.0));
        assert!(near(mean.freedom, 5.0));
        // Student's 97.5 % with five degrees.
        assert!((half(&[mean]) - 2.570_582 * (42.5_f64 / 30.0).sqrt()).abs() < 1e-5);
        assert!(TrimmedMean::of(vec![1.0]).is_none());
    }

    #[test]
    fn a_constant_ratio_has_no_width() {
        let baseline = some(&[2.0, 4.0, 6.0, 8.0]);
        let candidate = some(&[1.0, 2.0, 3.0, 4.0]);
        let interval = ratio(&baseline, &candidate).unwrap();
        for value in [interval.low, interval.estimate, interval.high] {
            assert!(near(value, 2.0));
        }
        assert!(!interval.holds_one());
        let samples = |row: &[Option<f64>]| row.iter().copied().flatten().collect::<Vec<f64>>();
        let same = unpaired(&samples(&baseline), &samples(&baseline)).unwrap();
        assert!(near(same.estimate, 1.0) && same.holds_one());
    }

    #[test]
    fn equal_rows_under_noise_hold_one_about_as_often_as_promised() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut row = |rounds| -> Vec<Option<f64>> {
            (0..rounds)
                .map(|_| Some(100.0 * (1.0 + 0.2 * (random.f64() - 0.5))))
                .collect()
        };
        for rounds in [6, 10, 20] {
            let held = (0..400)
                .filter(|_| ratio(&row(rounds), &row(rounds)).unwrap().holds_one())
                .count();
            assert!((368..=392).contains(&held), "{held} of 400");
        }
    }

    #[test]
    fn one_wild_round_of_six_moves_nothing() {
        let mut baseline = some(&[100.0, 101.0, 99.0, 100.0, 102.0, 98.0]);
        let candidate = some(&[50.0, 50.0, 51.0, 49.0, 50.0, 50.0]);
        let calm = ratio(&baseline, &candidate).unwrap();
        baseline[3] = Some(1.0);
        let wild = ratio(&baseline, &candidate).unwrap();
        assert!((wild.estimate / calm.estimate - 1.0).abs() < 0.02);
        assert!(wild.low > 1.8, "{wild:?}");
    }

    #[test]
    fn rounds_that_a_row_missed_are_left_out() {
        let baseline = vec![Some(2.0), None, Some(2.0), Some(2.0)];
        let candidate = vec![Some(1.0), Some(1.0), None, Some(1.0)];
        assert!(near(ratio(&baseline, &candidate).unwrap().estimate, 2.0));
        assert_eq!(ratio(&[None], &[Some(1.0)]), None);
        assert_eq!(ratio(&[Some(2.0)], &[Some(1.0)]), None);
    }

    #[test]
    fn the_geometric_mean_is_over_cells() {
        let cells = [vec![Some(2.0_f64.ln()); 5], vec![Some(8.0_f64.ln()); 5]];
        assert!(near(geometric_mean(&cells).unwrap().estimate, 4.0));
        // A cell with one round counts as much as the others.
        let cells = [
            vec![Some(2.0_f64.ln()); 5],
            vec![None, Some(8.0_f64.ln())],
            vec![],
        ];
        assert!(near(geometric_mean(&cells).unwrap().estimate, 4.0));
    }

    #[test]
    fn samples_of_two_runs_are_compared_as_yuen_does() {
        // Six values each: one goes at each end, four are left.
        let logs = |values: [f64; 6]| values.map(f64::exp).to_vec();
        let old = logs([1.0, 2.0, 3.0, 4.0, 5.0, 50.0]);
        let new = logs([0.0, 1.0, 1.5, 2.0, 2.5, 3.0]);
        let found = unpaired(&old, &new).unwrap();
        // Means 3.5 and 1.75. Spreads of 2 2 3 4 5 5 and 1 1 1.5 2 2.5 2.5: 9.5 and 2.375, each
        // over 12. Degrees: 3 (0.98958 squared) / (0.79167 squared + 0.19792 squared).
        assert!(near(found.estimate.ln(), 1.75));
        let variance: f64 = 9.5 / 12.0 + 2.375 / 12.0;
        let freedom =
            3.0 * variance.powi(2) / ((9.5_f64 / 12.0).powi(2) + (2.375_f64 / 12.0).powi(2));
        let student = StudentsT::new(0.0, 1.0, freedom)
            .unwrap()
            .inverse_cdf(0.975);
        assert!(near(found.high.ln() - 1.75, student * variance.sqrt()));
    }
}
