//! The simplest rule that could do, to compare `Auto` with.
//!
//! As many workers as processors while operations compute, the maximum while they wait. If the rate
//! falls by a fifth, half of them, down to the best number seen. If the best number's own rate
//! falls by 30 %, everything begins again.

use super::super::Sample;
use super::simulator::Rule;
use std::time::Duration;

pub(super) struct Simplest {
    cores: usize,
    max_workers: usize,
    workers: usize,
    /// Reports still to come about operations begun with another number.
    unsettled: usize,
    /// The target was tried since the search began.
    tried: bool,
    best: Option<(f64, usize)>,
    since: f64,
    reports: usize,
    work: f64,
    elapsed: Duration,
    busy: Duration,
}

impl Simplest {
    pub(super) fn new(cores: usize, max_workers: usize) -> Self {
        Self {
            cores,
            max_workers,
            workers: 1,
            unsettled: 0,
            tried: false,
            best: None,
            since: 0.0,
            reports: 0,
            work: 0.0,
            elapsed: Duration::ZERO,
            busy: Duration::ZERO,
        }
    }

    fn next(&mut self, rate: f64) -> usize {
        let (best_rate, best_workers) = self.best.unwrap_or((0.0, self.workers));
        if self.workers != best_workers && rate < 0.8 * best_rate {
            return best_workers.max(self.workers / 2);
        }
        let changed = self.workers == best_workers && rate < 0.7 * best_rate;
        if rate > best_rate || self.workers == best_workers {
            self.best = Some((rate, self.workers));
        }
        if self.tried && !changed {
            return self.workers;
        }
        self.tried = !changed;
        if self.busy < self.elapsed / 2 {
            self.max_workers
        } else {
            self.cores
        }
    }
}

impl Rule for Simplest {
    fn workers(&self) -> usize {
        self.workers
    }

    fn record(&mut self, now: Duration, sample: Sample, _remaining: Option<usize>) {
        let now = now.as_secs_f64();
        if self.unsettled > 0 {
            self.unsettled -= 1;
            self.since = now;
            return;
        }
        self.reports += 1;
        self.work += f64::from(sample.operations);
        self.elapsed += sample.elapsed;
        self.busy += sample.busy;
        let round = if self.workers > 1 {
            2 * self.workers
        } else {
            1
        };
        if self.reports < round || now <= self.since {
            return;
        }
        let workers = self.next(self.work / (now - self.since));
        if workers != self.workers {
            self.unsettled = workers.max(self.workers);
            self.workers = workers;
        }
        self.since = now;
        self.reports = 0;
        self.work = 0.0;
        self.elapsed = Duration::ZERO;
        self.busy = Duration::ZERO;
    }
}
