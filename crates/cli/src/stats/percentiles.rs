//! Percentiles of raw samples.

use serde::Serialize;
use statrs::statistics::{Data, OrderStatistics};

/// The figures of one row's samples that tables show, in nanoseconds per call; `total` is of all
/// calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) min: f64,
    pub(crate) p50: f64,
    pub(crate) p75: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) p995: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) total: f64,
    /// Calls, not samples: a sample may hold several.
    pub(crate) iterations: u64,
}

/// A percentile, by its name.
type Line = (&'static str, fn(&Percentiles) -> f64);

impl Percentiles {
    /// The lines, or columns, of a table.
    pub(crate) const TABLE: [Line; 8] = [
        ("Min", |found| found.min),
        ("P50", |found| found.p50),
        ("P90", |found| found.p90),
        ("P95", |found| found.p95),
        ("P99", |found| found.p99),
        ("P99.9", |found| found.p999),
        ("Max", |found| found.max),
        ("Total", |found| found.total),
    ];

    /// Takes samples that each timed `calls` calls. `None` when there are no samples.
    pub(crate) fn of(samples: impl IntoIterator<Item = u64>, calls: u32) -> Option<Self> {
        let calls = f64::from(calls.max(1));
        let mut sorted: Vec<f64> = samples.into_iter().map(|ns| ns as f64 / calls).collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let total = sorted.iter().sum::<f64>() * calls;
        let at = |p| quantile(&sorted, p);
        Some(Self {
            min: sorted[0],
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p995: at(0.995),
            p999: at(0.999),
            max: sorted[sorted.len() - 1],
            mean: total / (sorted.len() as f64 * calls),
            total,
            iterations: sorted.len() as u64 * calls as u64,
        })
    }
}

/// Returns the quantile `p` of ascending, non-empty `sorted`, interpolated between neighbours:
/// definition 7 of Hyndman and Fan (1996), "Sample quantiles in statistical packages", which R and
/// `NumPy` use by default.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * p.clamp(0.0, 1.0);
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Returns the median, or `None` of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values = Data::new(values.into_iter().collect::<Vec<f64>>());
    (!values.is_empty()).then(|| values.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn quantiles_are_those_of_r() {
        // R: quantile(c(1, 2, 4, 8, 16), c(.1, .5, .9))
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert!(close(quantile(&values, 0.1), 1.4));
        assert!(close(quantile(&values, 0.5), 4.0));
        assert!(close(quantile(&values, 0.9), 12.8));
        assert!(close(quantile(&[7.0], 0.999), 7.0));
    }

    #[test]
    fn a_sample_of_several_calls_counts_as_many_iterations() {
        let p = Percentiles::of([40, 20, 80], 4).unwrap();
        assert!(close(p.min, 5.0) && close(p.p50, 10.0) && close(p.max, 20.0));
        assert!(close(p.total, 140.0) && close(p.mean, 140.0 / 12.0));
        assert_eq!(p.iterations, 12);
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Percentiles::of([], 1), None);
        assert_eq!(median([]), None);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        assert_eq!(
            Percentiles::of(1..=1000, 1),
            Percentiles::of((1..=1000).rev(), 1)
        );
    }
}
