//! Drift: runs that become slower or faster from the first to the last, so that rows which ran at
//! different times differ for no reason of their own.

use super::percentiles::median;

/// A smaller difference between the first and the last third is not worth a word.
const LEAST: f64 = 1.15;
/// With fewer samples, thirds lie apart too often by chance.
const MIN_SAMPLES: usize = 9;

/// The medians of the first and the last third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

/// Compares the first third of the samples, in the order in which they were taken, with the last.
/// `None` unless all of one are larger than all of the other, and by enough.
pub(crate) fn drift(samples: &[f64]) -> Option<Drift> {
    if samples.len() < MIN_SAMPLES {
        return None;
    }
    let third = samples.len() / 3;
    let (first, last) = (&samples[..third], &samples[samples.len() - third..]);
    let min = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let max = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    if max(first) >= min(last) && max(last) >= min(first) {
        return None;
    }
    let [first, last] = [first, last].map(|of| median(of.iter().copied()));
    let (first, last) = (first?, last?);
    let by = (last / first).max(first / last);
    (by >= LEAST).then_some(Drift { first, last })
}

/// Returns how slow each round was for all rows: the median over the rows of a run's part of the
/// row's median.
pub(crate) fn rounds(rows: &[Vec<Option<f64>>]) -> Vec<f64> {
    let medians: Vec<Option<f64>> = rows
        .iter()
        .map(|times| median(times.iter().copied().flatten()))
        .collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let of_round = |round: usize| {
        let parts = rows.iter().zip(&medians).filter_map(|(times, median)| {
            let part = times.get(round).copied().flatten()? / (*median)?;
            part.is_finite().then_some(part)
        });
        median(parts)
    };
    (0..count).filter_map(of_round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_seen_where_the_thirds_lie_apart() {
        let rising = [1.0, 1.1, 1.2, 2.0, 2.1, 2.2, 3.0, 3.1, 3.2];
        let found = drift(&rising).unwrap();
        assert!((found.first - 1.1).abs() < 1e-9 && (found.last - 3.1).abs() < 1e-9);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!(drift(&falling).is_some());
        let noisy = [1.0, 3.0, 1.0, 2.0, 2.0, 2.0, 3.0, 1.0, 3.0];
        assert!(drift(&noisy).is_none());
        let flat = [1.0, 1.0, 1.0, 1.02, 1.02, 1.02, 1.03, 1.03, 1.03];
        assert!(drift(&flat).is_none());
        assert!(drift(&rising[..8]).is_none());
    }

    #[test]
    fn a_slow_round_is_slow_for_all_rows() {
        let row = |by: f64| [1.0, 1.0, 2.0].map(|time| Some(time * by)).to_vec();
        assert_eq!(rounds(&[row(1.0), row(10.0)]), [1.0, 1.0, 2.0]);
    }
}
