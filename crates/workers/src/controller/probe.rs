//! When to look whether more, or fewer, workers have become better: often where it costs nothing, and seldom where it was
//! clearly worse.

/// The part of a batch's time that probes in one direction may lose.
const BUDGET: f64 = 0.01;

/// When to look in one direction again, and what that would cost.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Trials in this direction that were rejected since one was accepted.
    failures: i32,
    /// When the last one ended, and not before when there is another.
    tried: f64,
    earliest: f64,
    /// The rate that a trial is expected to have, where there is reason for an expectation.
    rate: Option<f64>,
}

impl Probe {
    pub(super) fn expecting(rate: f64) -> Self {
        Self {
            rate: Some(rate),
            ..Self::default()
        }
    }

    /// A trial in this direction was rejected; it gave this rate.
    pub(super) fn failed(&mut self, now: f64, rate: f64, most: i32) {
        self.failures = (self.failures + 1).min(most);
        self.tried = now;
        self.rate = Some(rate);
    }

    /// Not before so many rounds.
    pub(super) fn wait(&mut self, now: f64, round: f64) {
        let rounds = 8.0 * f64::from(1 << self.failures);
        self.earliest = self.earliest.max(now + rounds * round);
    }

    /// Is another look due, and has enough time passed for what a trial of this length may lose?
    pub(super) fn is_due(&self, now: f64, rate: f64, length: f64) -> bool {
        let part = self.rate.map_or(0.0, |expected| 1.0 - expected / rate);
        part < -0.1 || now >= self.earliest && part * length <= BUDGET * (now - self.tried)
    }
}
