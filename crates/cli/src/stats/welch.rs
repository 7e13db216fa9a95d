//! Welch's t-test in the form that Node core's benchmark comparison prints: improvement in per
//! cent, stars, and the half-width of the improvement's confidence interval at 95, 99 and 99.9 %.
//!
//! An observation is the rate (calls per second) of one process, as it is there: samples within a
//! process are not independent. Source: Welch (1947), "The generalization of Student's problem when
//! several different population variances are involved".

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

/// The comparison of two sets of rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Welch {
    /// (mean of the candidate - mean of the baseline) / mean of the baseline, in per cent.
    pub(crate) improvement: f64,
    /// Two-sided.
    pub(crate) p_value: f64,
    /// Half-width of the interval around `improvement` in percentage points, at 95, 99 and 99.9 %.
    pub(crate) accuracy: [f64; 3],
}

impl Welch {
    /// `None` with fewer than two rates on a side: there is nothing to estimate the spread from.
    pub(crate) fn compare(baseline: &[f64], candidate: &[f64]) -> Option<Self> {
        if baseline.len() < 2 || candidate.len() < 2 {
            return None;
        }
        let of_mean = |rates: &[f64]| rates.variance() / rates.len() as f64;
        let (base, cand) = (of_mean(baseline), of_mean(candidate));
        let (variance, mean) = (base + cand, baseline.mean());
        let difference = candidate.mean() - mean;
        let improvement = difference / mean * 100.0;
        if variance == 0.0 {
            return Some(Self {
                improvement,
                p_value: f64::from(improvement == 0.0),
                accuracy: [0.0; 3],
            });
        }
        let freedom = variance.powi(2)
            / (base.powi(2) / (baseline.len() - 1) as f64
                + cand.powi(2) / (candidate.len() - 1) as f64);
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let error = variance.sqrt();
        Some(Self {
            improvement,
            p_value: 2.0 * student.sf(difference.abs() / error),
            accuracy: [0.05, 0.01, 0.001]
                .map(|risk| student.inverse_cdf(1.0 - risk / 2.0) * error / mean * 100.0),
        })
    }

    /// `*`, `**`, `***` at 95, 99, 99.9 %; empty when there is no measurable difference.
    pub(crate) fn stars(&self) -> &'static str {
        match self.p_value {
            p if p < 0.001 => "***",
            p if p < 0.01 => "**",
            p if p < 0.05 => "*",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() < tolerance
    }

    #[test]
    fn quantiles_of_t_are_those_of_the_printed_tables() {
        for (freedom, p, expected) in [
            (1.0, 0.975, 12.706),
            (10.0, 0.975, 2.228),
            (10.0, 0.995, 3.169),
            (30.0, 0.9995, 3.646),
        ] {
            let t = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(p);
            assert!(near(t, expected, 6e-4), "{freedom} {p}: {t}");
        }
    }

    #[test]
    fn agrees_with_a_published_example() {
        // Students' sleep data (Student 1908), R's documentation of t.test: t = -1.8608, df =
        // 17.776, p = 0.07939, 95 % interval of the difference -3.3654832 ... 0.2054832, means 0.75
        // and 2.33.
        let group1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let group2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let welch = Welch::compare(&group1, &group2).unwrap();
        assert!(near(welch.p_value, 0.07939, 1e-5), "{}", welch.p_value);
        assert!(near(welch.improvement, (2.33 - 0.75) / 0.75 * 100.0, 1e-9));
        let half = f64::midpoint(0.205_483_2, 3.365_483_2);
        assert!(
            near(welch.accuracy[0], half / 0.75 * 100.0, 1e-4),
            "{:?}",
            welch.accuracy
        );
        assert!(welch.accuracy[0] < welch.accuracy[1] && welch.accuracy[1] < welch.accuracy[2]);
        assert_eq!(welch.stars(), "");
    }

    #[test]
    fn stars_follow_the_levels() {
        let with = |p_value| Welch {
            improvement: 0.0,
            p_value,
            accuracy: [0.0; 3],
        };
        assert_eq!(
            [0.06, 0.04, 0.009, 0.0009].map(|p| with(p).stars()),
            ["", "*", "**", "***"]
        );
    }

    #[test]
    fn one_rate_is_not_enough_and_equal_rates_do_not_differ() {
        assert_eq!(Welch::compare(&[1.0], &[1.0, 2.0]), None);
        let same = Welch::compare(&[2.0, 2.0], &[2.0, 2.0]).unwrap();
        assert_eq!((same.stars(), same.improvement), ("", 0.0));
    }
}
