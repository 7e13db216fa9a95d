//! Decides when to try more or fewer workers again: seldom where that was clearly worse.

/// The part of a batch's time that probes in one direction may lose.
const BUDGET: f64 = 0.01;

/// The number of rounds between two probes that cost nothing. Each failure doubles it.
const ROUNDS: f64 = 6.0;
const MAX_DOUBLINGS: i32 = 6;

/// The plan for trying numbers in one direction again.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// The number of trials that were rejected since one was accepted.
    failures: i32,
    /// The time when the last of them ended.
    tried: f64,
    earliest: f64,
    /// The rate that a trial is expected to have.
    rate: Option<f64>,
}

impl Probe {
    pub(super) fn expecting(rate: f64) -> Self {
        Self {
            rate: Some(rate),
            ..Self::default()
        }
    }

    /// Takes the rate of a trial that was rejected.
    pub(super) fn fail(&mut self, now: f64, rate: f64) {
        self.failures = (self.failures + 1).min(MAX_DOUBLINGS);
        self.tried = now;
        self.rate = Some(rate);
    }

    /// Delays the next probe by some rounds of this length.
    pub(super) fn wait(&mut self, now: f64, round: f64) {
        let rounds = ROUNDS * f64::from(1 << self.failures);
        self.earliest = self.earliest.max(now + rounds * round);
    }

    /// Returns true if a trial of this length is due, and loses no more than its budget.
    pub(super) fn is_due(&self, now: f64, rate: f64, length: f64) -> bool {
        let loss = self.rate.map_or(0.0, |expected| 1.0 - expected / rate);
        now >= self.earliest && loss * length <= BUDGET * (now - self.tried)
    }
}
