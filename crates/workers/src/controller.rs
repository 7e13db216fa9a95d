//! Decides how many workers a batch has: this is what `Auto` does.
//!
//! Each worker reports every 250 us, the first time after 100 us, or after each operation that
//! takes longer. The controller answers with the number of workers. It has no clock and no thread,
//! so the tests run it in simulated time.
//!
//! # How
//!
//! The rate is the work that all workers together do per second of wall time. An operation is one
//! unit of work, and every 32 KiB that it moves are another.
//!
//! 1. **Measure.** A batch begins with one worker, the calling thread. Its first report tells
//!    waiting (little processor time) from computing.
//! 2. **Climb.** Workers that compute become as many as there are processors. Workers that wait are
//!    multiplied by four while that raises the rate. If fewer than 16 workers that wait look best,
//!    16 are tried once: some disks answer quickly only while many requests wait. A worse number is
//!    given up at once.
//! 3. **Watch.** The best number stays and its rate is watched. If the rate changes by more than
//!    noise, and for longer than it swings by itself, the search begins again. Workers that wait
//!    and became slower are halved first, because the device may have too many requests.
//! 4. **Probe.** Twice the number and half of it are tried now and then, for 1 % of the time each,
//!    and less often after each failure. Half of it is kept if it costs no more than 2 %.
//!
//! # Why so
//!
//! The controller compares rates, never latencies: a disk that reorders requests has longer
//! latencies and a better rate with more of them. Steps are factors, because noise hides the gain
//! of one more worker. The length of a trial follows from the noise, which differs a hundredfold
//! between files in memory and a distant server.
//!
//! Sources: the utilisation law (Denning and Buzen 1978, "The operational analysis of queueing
//! network models"); hill climbing on throughput (Hellerstein, Morrison and Eilebrecht 2008,
//! "Optimizing concurrency levels in the .NET `ThreadPool`"); sequential tests (Wald 1945); the
//! variance from successive differences (von Neumann 1941). `docs/experiments.md` lists what
//! each rule here gains, and rules that gained nothing.

mod measure;
mod probe;
mod swings;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(crate) use measure::Sample;
use measure::{Noise, Total};
use probe::Probe;
use swings::{CHANGE, Swings};

/// Work, in seconds of one worker, below which a batch stays on the calling thread.
const WORTH_SHARING: f64 = 1e-3;

/// Work that each worker should find, in seconds: a few times what starting a thread costs.
const WORTH_STARTING: f64 = 200e-6;

/// The gain, as a logarithm, for which more workers are kept.
const GAIN: f64 = 0.04;

/// The loss, as a logarithm, at which fewer workers are kept.
const TOLERANCE: f64 = 0.02;

/// A gain, as a logarithm, that half the workers never bring. It shows that the device has changed
/// back.
const RETURN: f64 = 1.0;

/// The number of workers that is tried once before the best number of workers that wait is less.
/// The score of a disk that needs 10 requests at a time is 0.03 lower without it.
const LEAP: usize = 16;

/// The number of requests with which a batch of them begins. One of 2,000 that take 10 ms each
/// scores 0.95 with it, and 0.74 if it begins with one.
const FIRST_REQUESTS: usize = 64;

/// The time, in seconds, within which a server that asks for fewer requests is heard once. The
/// answers to those that are in flight come later, and say the same.
const HEARD_ONCE: f64 = 0.2;

/// The number of standard errors beyond which a trial ends early.
const CERTAIN: f64 = 1.5;

/// The limits of one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of processors that this process may use, by its affinity and its cgroup's quota.
    pub(crate) cores: usize,
    /// The maximum number of workers.
    pub(crate) max_workers: usize,
}

/// Decides how many workers a batch has.
#[derive(Debug)]
pub(crate) struct Controller {
    cores: f64,
    max_workers: usize,
    /// The number asked for.
    workers: usize,
    phase: Phase,
    best: Level,
    /// Reports that are not yet part of a level or a trial.
    slice: Slice,
    noise: Noise,
    swings: Swings,
    now: f64,
    /// The time of the last change of the number of workers, or of the device.
    changed: f64,
    /// The number of reports still to come about operations that began before that change.
    outstanding: usize,
    up: Probe,
    down: Probe,
    /// A trial of [`LEAP`] workers or more began since the last change.
    leapt: bool,
    /// The time when the server last asked for fewer requests.
    slowed: f64,
}

#[derive(Debug)]
enum Phase {
    /// Measures the rate of `best.workers`, which is not known.
    Measuring(Reason),
    /// Compares another number with the best one.
    Trying(Reason, Total),
    /// Watches the best number.
    Watching,
}

/// The reason for a trial, which decides what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// The search goes up.
    Climb,
    /// Workers that wait became slower. If fewer are not better, more may be.
    Slowdown,
    /// The server asked for fewer requests.
    Asked,
    /// The best number may not be the best any more.
    Probe,
}

/// The best number of workers known, and its rate.
#[derive(Debug)]
struct Level {
    workers: usize,
    total: Total,
    /// The total includes the start of the workers, so the next slice replaces it.
    provisional: bool,
    /// The number of slices in a row that differ from the total.
    unlike: u32,
}

#[derive(Debug, Default)]
struct Slice {
    since: f64,
    total: Total,
}

impl Controller {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            cores: limits.cores.max(1) as f64,
            max_workers: limits.max_workers.max(1),
            workers: 1,
            phase: Phase::Measuring(Reason::Climb),
            best: Level::new(1),
            slice: Slice::default(),
            noise: Noise::unknown(),
            swings: Swings::default(),
            now: 0.0,
            changed: 0.0,
            outstanding: 0,
            up: Probe::default(),
            down: Probe::default(),
            leapt: false,
            slowed: f64::NEG_INFINITY,
        }
    }

    /// Returns the number of workers that the batch should have now.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Begins again with the number of workers that requests to a server are worth at once, and
    /// goes up to `max_workers`. Returns the number of workers.
    pub(crate) fn are_for_requests(&mut self, max_workers: usize) -> usize {
        self.max_workers = max_workers.max(1);
        self.leapt = true;
        self.measure_with(FIRST_REQUESTS.min(self.max_workers), Reason::Climb);
        self.outstanding = 0;
        self.workers
    }

    /// Halves the number of workers, because the server asks for fewer requests. Returns it.
    pub(crate) fn slow_down(&mut self, now: Duration) -> usize {
        self.now = self.now.max(now.as_secs_f64());
        if self.now - self.slowed >= HEARD_ONCE {
            self.slowed = self.now;
            self.leapt = true;
            // More workers are on trial only.
            let most = self.best.workers.max(2);
            self.measure_with(self.workers.div_ceil(2).min(most), Reason::Asked);
            self.up = Probe::default();
            self.up.fail(self.now, 0.0);
            self.down = Probe::default();
        }
        self.workers
    }

    fn measure_with(&mut self, workers: usize, reason: Reason) {
        self.set_workers(workers);
        self.best = Level::new(workers);
        self.phase = Phase::Measuring(reason);
    }

    /// Takes one worker's report and returns the number of workers. `now` counts from the batch's
    /// beginning. `remaining` is the number of operations not yet begun, if known.
    pub(crate) fn record(
        &mut self,
        now: Duration,
        sample: Sample,
        remaining: Option<usize>,
    ) -> usize {
        self.now = self.now.max(now.as_secs_f64());
        let report = Total::of(sample);
        // If many quick operations come with a slow one, the quick ones belong to the time before.
        let mixed = report.operations > 1.0 && self.now - report.elapsed < self.changed;
        if mixed && self.outstanding == 0 && matches!(self.phase, Phase::Measuring(_)) {
            return self.workers;
        }
        let report = if self.outstanding > 0 {
            report.since(self.now - self.slice.since)
        } else {
            report
        };
        self.slice.total.add(&report);
        self.slice.total.time = self.now - self.slice.since;
        if self.outstanding > 0 {
            self.outstanding -= 1;
            if self.outstanding == 0 {
                self.arrive(remaining);
            }
            return self.workers;
        }
        match self.phase {
            Phase::Measuring(reason) => self.measure(reason, remaining),
            Phase::Trying(reason, total) => self.compare(reason, total, remaining),
            Phase::Watching => self.watch(remaining),
        }
        self.workers
    }

    /// Asks for another number. The next report of each worker is about operations begun before.
    fn set_workers(&mut self, workers: usize) {
        if workers != self.workers {
            self.outstanding = workers.max(self.workers);
        }
        self.workers = workers;
        self.changed = self.now;
        self.begin_slice();
    }

    fn begin_slice(&mut self) {
        self.slice = Slice {
            since: self.now,
            total: Total::default(),
        };
    }

    fn measure(&mut self, reason: Reason, remaining: Option<usize>) {
        let slice = &self.slice.total;
        let workers = self.workers as f64;
        // Workers in step report together. Half the time of a report holds a part of each.
        let enough = slice.reports >= workers
            || slice.reports >= 16.0 && slice.time >= 0.5 * slice.per_report();
        if slice.is_empty() || !enough {
            return;
        }
        self.best.total.add(slice);
        self.noise = Noise::of(slice);
        if workers <= self.cores && self.is_full() {
            // Each worker has a processor, so half of them do half as much.
            self.down = Probe::expecting(0.5 * self.best.total.rate());
        }
        self.begin_slice();
        self.explore(reason, remaining);
    }

    /// Takes the next step of the search, or keeps the best number.
    fn explore(&mut self, reason: Reason, remaining: Option<usize>) {
        let here = self.best.workers;
        let target = self.next_step(if reason == Reason::Probe { 2 } else { 4 });
        let affordable = self.affordable(remaining);
        if reason == Reason::Asked {
            self.keep_best(remaining);
        } else if reason == Reason::Slowdown && here > 1 {
            self.try_out(here.div_ceil(2), reason);
        } else if target > here && affordable > here {
            self.try_out(target.min(affordable), reason);
        } else if target > here && here == 1 {
            self.phase = Phase::Measuring(reason); // It may pay later.
        } else {
            self.keep_best(remaining);
        }
    }

    /// Returns the next larger number to try, whatever it costs.
    fn next_step(&self, factor: usize) -> usize {
        if self.is_full() {
            return self.best.workers;
        }
        let here = self.best.workers;
        let wanted = if self.best.total.is_waiting() || factor == 2 {
            here.saturating_mul(factor)
        } else {
            whole(self.cores).max(here.saturating_mul(2))
        };
        wanted.min(self.max_workers).max(here)
    }

    /// Returns true if the workers keep the processors busy.
    fn is_full(&self) -> bool {
        self.best.total.load() * self.best.workers as f64 >= 0.85 * self.cores
    }

    /// Returns the number of workers that the rest of the batch keeps busy for long enough.
    fn affordable(&self, remaining: Option<usize>) -> usize {
        let left = match remaining {
            Some(count) => count as f64 * self.best.total.per_operation(),
            // The rest is taken to be as long as the part that is done.
            None => self.now * self.best.workers as f64,
        };
        if left < WORTH_SHARING {
            return 1;
        }
        let by_time = whole(left / WORTH_STARTING);
        remaining.map_or(by_time, |count| {
            by_time.min(self.workers.saturating_add(count))
        })
    }

    fn try_out(&mut self, workers: usize, reason: Reason) {
        self.leapt |= workers >= LEAP.min(self.max_workers);
        self.set_workers(workers);
        self.phase = Phase::Trying(reason, Total::default());
    }

    /// Looks at the first report of each worker since the number changed. A trial of more workers
    /// that is clearly better already is accepted.
    fn arrive(&mut self, remaining: Option<usize>) {
        let total = self.slice.total;
        self.begin_slice();
        let Phase::Trying(reason, _) = self.phase else {
            return;
        };
        if self.workers < self.best.workers || total.is_empty() {
            return;
        }
        let gain = (total.rate() / self.best.total.rate()).ln();
        let error = self.noise.error(&total, &self.best.total);
        let unknown = self.best.total.reports <= 2.0 && self.best.total.is_waiting();
        if gain > if unknown { -error } else { 2.0 * error + GAIN } {
            self.accept(reason, total, gain, true, remaining);
        }
    }

    fn compare(&mut self, reason: Reason, mut total: Total, remaining: Option<usize>) {
        total.add(&self.slice.total);
        if self.slice.total.reports < self.workers as f64 || self.slice.total.is_empty() {
            return;
        }
        self.noise.learn(&self.slice.total);
        self.phase = Phase::Trying(reason, total);
        self.begin_slice();
        let gain = (total.rate() / self.best.total.rate()).ln();
        match self.verdict(reason, &total, gain) {
            Some(true) => self.accept(reason, total, gain, false, remaining),
            Some(false) => self.reject(reason, &total, remaining),
            None => {}
        }
    }

    /// Returns true if the number on trial is to be kept, and `None` if that is not clear yet.
    fn verdict(&self, reason: Reason, total: &Total, gain: f64) -> Option<bool> {
        let best = &self.best.total;
        let two_rounds = 2.0 * self.workers as f64;
        let error = self.noise.error(total, best);
        let required = if self.workers > self.best.workers {
            GAIN
        } else {
            -TOLERANCE
        };
        // More reports than this hardly make the comparison better.
        let enough = self.noise.reports_for(0.025).min(4.0 * best.reports);
        let long_enough = total.reports >= two_rounds.max(enough);
        // In doubt a climb of workers that wait goes on.
        let hope = if reason == Reason::Climb && best.is_waiting() {
            error.min(0.25)
        } else {
            0.0
        };
        // A probe can wait for its outcome, and each one is another chance to be wrong.
        let (certain, seen) = if reason == Reason::Probe {
            (2.0, total.reports >= two_rounds.max(12.0))
        } else {
            (CERTAIN, true)
        };
        if seen && gain > required + certain * error || long_enough && gain + hope > required {
            Some(true)
        } else if long_enough || gain < required - CERTAIN * error {
            Some(false)
        } else {
            None
        }
    }

    fn accept(
        &mut self,
        reason: Reason,
        total: Total,
        gain: f64,
        provisional: bool,
        remaining: Option<usize>,
    ) {
        let before = self.best.workers;
        if reason == Reason::Slowdown && gain > RETURN {
            self.swings.end(self.now);
            self.set_workers(before);
            self.best = Level::new(before);
            self.phase = Phase::Measuring(Reason::Climb);
            return;
        }
        let unknown = self.best.total.reports <= 2.0;
        // The power of the number of workers by which the rate grows.
        let slope = (gain / (self.workers as f64 / before as f64).ln()).clamp(0.0, 1.0);
        self.best = Level {
            total,
            provisional,
            ..Level::new(self.workers)
        };
        self.up = Probe::default();
        self.down = Probe::expecting(total.rate() * 0.5_f64.powf(slope));
        if self.workers > before || self.is_full() {
            let steep = reason != Reason::Probe && (slope > 0.1 || unknown);
            let reason = if steep { Reason::Climb } else { Reason::Probe };
            self.explore(reason, remaining);
        } else if self.workers > 1 {
            self.try_out(self.workers.div_ceil(2), Reason::Probe);
        } else {
            self.keep_best(remaining);
        }
    }

    fn reject(&mut self, reason: Reason, total: &Total, remaining: Option<usize>) {
        let best = self.best.total.rate();
        let error = self.noise.error(total, &self.best.total);
        let loss = (1.0 - total.rate() / best).clamp(0.0, 1.0);
        // A loss that noise explains counts for little.
        let loss = loss * loss * loss / (loss * loss + error * error).max(1e-9);
        let probe = if self.workers > self.best.workers {
            &mut self.up
        } else {
            &mut self.down
        };
        probe.fail(self.now, best * (1.0 - loss));
        if reason == Reason::Slowdown {
            self.explore(Reason::Climb, remaining);
        } else {
            self.keep_best(remaining);
        }
    }

    fn keep_best(&mut self, remaining: Option<usize>) {
        let leap = LEAP.min(self.max_workers);
        let possible = leap > self.best.workers && self.affordable(remaining) >= leap;
        if self.best.total.is_waiting() && !self.leapt && possible {
            return self.try_out(leap, Reason::Climb);
        }
        self.phase = Phase::Watching;
        self.set_workers(self.best.workers);
        let round = self.best.total.per_report();
        self.up.wait(self.now, round);
        self.down.wait(self.now, round);
    }

    fn watch(&mut self, remaining: Option<usize>) {
        let best = self.best.total;
        let collapsed = best.rate() * (-3.0 * CHANGE).exp();
        if self.slice.total.falls_short(self.workers as f64, collapsed) {
            self.swings.begin(self.slice.since, best.rate());
            if self.swings.is_change(self.now) {
                return self.start_again(true);
            }
        }
        let round = self.noise.reports_for(0.14).clamp(2.0, 64.0);
        let slice = self.slice.total;
        if slice.reports < round.max(self.workers as f64) || slice.is_empty() {
            return;
        }
        let since = self.slice.since;
        self.begin_slice();
        self.noise.learn(&slice);
        self.swings.observe(self.now, &slice);
        if self.best.provisional {
            self.best.provisional = false;
            self.best.total = slice;
            return;
        }
        let difference = (slice.rate() / best.rate()).ln();
        if difference.abs() <= CHANGE.max(3.0 * self.noise.error(&slice, &best)) {
            self.best.unlike = 0;
            self.best.total.add(&slice);
            return self.probe(remaining);
        }
        self.best.unlike += 1;
        self.swings.begin(since, best.rate());
        if self.best.unlike >= 2 && self.swings.is_change(self.now) {
            self.start_again(difference < 0.0);
        }
    }

    /// Forgets what is known, because the device changed.
    fn start_again(&mut self, slower: bool) {
        let (reason, part) = if slower && self.best.total.load() < 0.75 {
            (Reason::Slowdown, 1)
        } else {
            (Reason::Climb, 4)
        };
        self.leapt = false;
        self.best = Level::new(self.workers);
        self.up = Probe::default();
        self.down = Probe::default();
        self.outstanding = self.workers.min(16) / part;
        self.changed = self.now;
        self.phase = Phase::Measuring(reason);
        self.begin_slice();
    }

    fn probe(&mut self, remaining: Option<usize>) {
        let rate = self.best.total.rate();
        let length = 4.0 * self.best.total.per_report();
        let due = |probe: &Probe| probe.is_due(self.now, rate, length);
        let above = self.next_step(2).min(self.affordable(remaining));
        if above > self.workers && due(&self.up) {
            self.try_out(above, Reason::Probe);
        } else if self.workers > 1 && due(&self.down) {
            self.try_out(self.workers.div_ceil(2), Reason::Probe);
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "no number here is negative")]
fn whole(number: f64) -> usize {
    number as usize
}

impl Level {
    fn new(workers: usize) -> Self {
        Self {
            workers,
            total: Total::default(),
            provisional: false,
            unlike: 0,
        }
    }
}
