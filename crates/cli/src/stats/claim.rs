//! Claims: gains and losses that a ratio shows beyond the noise of its run.
//!
//! A difference is claimed only if its interval leaves 1 out, and if it is larger than what the
//! baseline shows against itself in the same run (A/A). The interval alone is wrong in one case of
//! twenty, and knows nothing of what two equal rows differ by here: another heap, another place on
//! the disk.

use super::interval::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With fewer rounds, even widened intervals leave out the truth too often.
pub(crate) const ENOUGH_ROUNDS: usize = 6;

/// A smaller difference is not worth a word.
const LEAST: f64 = 1.01;

/// The difference of a baseline from itself in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// The baseline against itself; `None` if it was not run twice, or in one round only.
    pub(crate) itself: Option<Interval>,
    pub(crate) rounds: usize,
}

/// The answer to whether a row is faster than its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Claim {
    /// The row is faster.
    Gain,
    /// The row is slower.
    Loss,
    /// The interval holds 1.
    NoDifference,
    /// The interval leaves 1 out, but equal rows differ as much here.
    WithinNoise,
    /// There are fewer than six rounds.
    TooFewRounds,
}

impl Noise {
    /// Returns the factor by which equal rows differ: 1.08 where the baseline against itself
    /// came out between 0.95 and 1.08.
    pub(crate) fn reach(&self) -> f64 {
        let reach = |it: Interval| it.high.max(1.0 / it.low);
        self.itself.map_or(1.0, reach).max(LEAST)
    }

    /// Returns the smallest difference that is claimed, in percent.
    pub(crate) fn percent(&self) -> f64 {
        let tenths = ((self.reach() - 1.0) * 1000.0).round();
        (tenths / 10.0).ceil()
    }

    pub(crate) fn claim(&self, ratio: Interval) -> Claim {
        if self.rounds < ENOUGH_ROUNDS {
            return Claim::TooFewRounds;
        }
        if ratio.holds_one() {
            return Claim::NoDifference;
        }
        let by = ratio.estimate.max(1.0 / ratio.estimate);
        match ratio.estimate > 1.0 {
            _ if by <= self.reach() => Claim::WithinNoise,
            true => Claim::Gain,
            false => Claim::Loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interval::ratio;
    use super::*;

    /// A simulated machine. Some rounds are slow for all rows, and each run varies on its own.
    struct Machine {
        random: fastrand::Rng,
        /// The deviation of a run, as a part of its time.
        deviation: f64,
        /// The part of all runs that are slow, and how many times as long these take.
        outliers: f64,
        outlier: f64,
        rounds: usize,
    }

    impl Machine {
        /// Returns what may be said of a row that takes `cost` times as long as the baseline, and
        /// the difference that is found nearly always: how far equal rows differ, and half of the
        /// row's own interval.
        fn judge(&mut self, cost: f64) -> (Claim, f64) {
            let rounds: Vec<f64> = (0..self.rounds)
                .map(|_| 1.0 + 0.3 * self.random.f64())
                .collect();
            let [baseline, itself, row] = [1.0, 1.0, cost].map(|cost| -> Vec<Option<f64>> {
                let run = |round: &f64| Some(cost * round * self.factor());
                rounds.iter().map(run).collect()
            });
            let noise = Noise {
                itself: ratio(&baseline, &itself),
                rounds: self.rounds,
            };
            let ratio = ratio(&baseline, &row).unwrap();
            let half = (ratio.high / ratio.low).sqrt();
            (noise.claim(ratio), noise.reach() * half)
        }

        fn factor(&mut self) -> f64 {
            // The sum of twelve numbers is nearly normal, with a deviation of one.
            let normal = (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0;
            let is_outlier = self.random.f64() < self.outliers;
            (self.deviation * normal).exp() * if is_outlier { self.outlier } else { 1.0 }
        }
    }

    /// From a quiet machine to a busy one: deviations, outliers, and their factor.
    const MACHINES: [(f64, f64, f64); 5] = [
        (0.01, 0.0, 1.0),
        (0.02, 0.05, 1.5),
        (0.03, 0.1, 5.0),
        (0.05, 0.05, 1.5),
        (0.2, 0.1, 1.5),
    ];

    fn machines() -> impl Iterator<Item = Machine> {
        let rounds = [ENOUGH_ROUNDS, 10];
        let of_rounds = |rounds| {
            MACHINES.map(|(deviation, outliers, outlier)| Machine {
                random: fastrand::Rng::with_seed(1),
                deviation,
                outliers,
                outlier,
                rounds,
            })
        };
        rounds.into_iter().flat_map(of_rounds)
    }

    #[test]
    fn equal_rows_are_rarely_claimed_to_differ() {
        for mut machine in machines() {
            let claims = (0..100).filter(|_| {
                let (claim, _) = machine.judge(1.0);
                matches!(claim, Claim::Gain | Claim::Loss)
            });
            let (claims, deviation) = (claims.count(), machine.deviation);
            assert!(claims <= 5, "{claims} of 100, deviation {deviation}");
        }
    }

    #[test]
    fn a_loss_of_ten_percent_is_found_or_called_undetectable() {
        for mut machine in machines() {
            let (mut found, mut detectable) = (0, 0);
            for _ in 0..100 {
                let (claim, found_from) = machine.judge(1.0 / 0.9);
                assert!(claim != Claim::Gain);
                if found_from < 1.0 / 0.9 {
                    detectable += 1;
                    found += usize::from(claim == Claim::Loss);
                }
            }
            let deviation = machine.deviation;
            assert!(
                found * 100 >= detectable * 95,
                "{found} of {detectable}, deviation {deviation}"
            );
            assert!(deviation > 0.01 || detectable == 100, "{detectable}");
        }
    }

    #[test]
    fn a_clear_gain_is_found_in_six_rounds_with_wild_ones() {
        let [_, _, wild, ..] = MACHINES;
        let is_wild = |it: &Machine| (it.deviation, it.outliers, it.outlier) == wild;
        for mut machine in machines().filter(is_wild) {
            let found = (0..100).filter(|_| machine.judge(1.0 / 1.5).0 == Claim::Gain);
            let (found, rounds) = (found.count(), machine.rounds);
            assert!(found >= 60, "{found} of 100, {rounds} rounds");
        }
    }

    #[test]
    fn a_difference_within_a_hundredth_is_not_claimed() {
        let [low, estimate, high] = [1.001, 1.004, 1.008];
        let ratio = Interval {
            low,
            estimate,
            high,
        };
        let noise = Noise {
            itself: None,
            rounds: ENOUGH_ROUNDS,
        };
        assert_eq!(noise.claim(ratio), Claim::WithinNoise);
        assert!((noise.percent() - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn few_rounds_give_no_verdict() {
        let ratio = Interval {
            low: 2.0,
            estimate: 2.1,
            high: 2.2,
        };
        let noise = |rounds| Noise {
            itself: None,
            rounds,
        };
        assert_eq!(noise(ENOUGH_ROUNDS - 1).claim(ratio), Claim::TooFewRounds);
        assert_eq!(noise(ENOUGH_ROUNDS).claim(ratio), Claim::Gain);
    }
}
