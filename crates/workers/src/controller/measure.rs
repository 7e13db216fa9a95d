//! Reports and their sums, and the noise of the rates that they show.

use std::time::Duration;

/// The number of bytes that cost about as much as one more operation. It gives a batch of mixed
/// sizes a steady rate.
const BYTES_PER_UNIT: f64 = 32.0 * 1024.0;

/// The report of one worker on the time since its last report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// The number of operations that it completed.
    pub(crate) operations: u32,
    /// The number of bytes that they moved.
    pub(crate) bytes: u64,
    /// The time that passed.
    pub(crate) elapsed: Duration,
    /// The processor time that the worker's thread used in it.
    pub(crate) busy: Duration,
}

/// Sums over reports. `time` is wall time. `elapsed` and `busy` are added up over the workers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    pub(super) work: f64,
    pub(super) operations: f64,
    pub(super) reports: f64,
    pub(super) time: f64,
    pub(super) elapsed: f64,
    pub(super) busy: f64,
}

impl Total {
    pub(super) fn of(sample: Sample) -> Self {
        let operations = f64::from(sample.operations);
        Self {
            work: operations + sample.bytes as f64 / BYTES_PER_UNIT,
            operations,
            reports: 1.0,
            time: 0.0,
            elapsed: sample.elapsed.as_secs_f64(),
            busy: sample.busy.as_secs_f64(),
        }
    }

    /// Returns the part of a report that is about the last `time`. A single operation counts whole
    /// when it ends, because as much of the others is missing at the end.
    pub(super) fn since(mut self, time: f64) -> Self {
        if self.operations > 1.0 && self.elapsed > time {
            let part = time / self.elapsed;
            self.work *= part;
            self.operations *= part;
            self.busy *= part;
            self.elapsed = time;
        }
        self
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.work += other.work;
        self.operations += other.operations;
        self.reports += other.reports;
        self.time += other.time;
        self.elapsed += other.elapsed;
        self.busy += other.busy;
    }

    /// Returns true if it shows no rate.
    pub(super) fn is_empty(&self) -> bool {
        self.work <= 0.0 || self.time <= 0.0
    }

    pub(super) fn rate(&self) -> f64 {
        self.work / self.time
    }

    /// Returns the part of the workers' time in which they compute.
    pub(super) fn load(&self) -> f64 {
        if self.elapsed > 0.0 {
            self.busy / self.elapsed
        } else {
            1.0
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.load() < 0.5
    }

    /// Returns true if the rate is below `rate` even if each worker is about to report.
    pub(super) fn falls_short(&self, workers: f64, rate: f64) -> bool {
        let at_best = self.work * (1.0 + workers / self.reports.max(1.0));
        self.reports >= 2.0 && at_best < rate * self.time
    }

    pub(super) fn per_operation(&self) -> f64 {
        if self.operations > 0.0 {
            self.elapsed / self.operations
        } else {
            0.0
        }
    }

    pub(super) fn per_report(&self) -> f64 {
        self.elapsed / self.reports.max(1.0)
    }
}

/// The variance of one report's share in a rate.
#[derive(Debug)]
pub(super) struct Noise {
    variance: f64,
    seen: f64,
    last: Option<f64>,
}

impl Noise {
    pub(super) fn unknown() -> Self {
        Self {
            variance: 0.5,
            seen: 3.0,
            last: None,
        }
    }

    /// Makes a first guess: the times of operations differ by about as much as they take.
    pub(super) fn of(total: &Total) -> Self {
        Self {
            variance: (0.7 * total.reports / total.operations.max(1.0)).clamp(0.01, 0.7),
            ..Self::unknown()
        }
    }

    /// Learns from the difference between neighbouring slices.
    pub(super) fn learn(&mut self, slice: &Total) {
        let rate = slice.rate().ln();
        if let Some(last) = self.last.replace(rate) {
            let difference = rate - last;
            // A change of the device is not noise.
            let max = (4.0 * self.variance).min(2.0);
            let variance = (difference * difference / 2.0 * slice.reports).clamp(0.005, max);
            self.seen = (self.seen + 1.0).min(16.0);
            self.variance += (variance - self.variance) / self.seen;
        }
    }

    /// Returns the standard error of the logarithm of the ratio of two rates.
    pub(super) fn error(&self, one: &Total, other: &Total) -> f64 {
        (self.variance * (1.0 / one.reports.max(1.0) + 1.0 / other.reports.max(1.0))).sqrt()
    }

    /// Returns the number of reports that bring a rate's standard error down to `error`.
    pub(super) fn reports_for(&self, error: f64) -> f64 {
        self.variance / (error * error)
    }
}
