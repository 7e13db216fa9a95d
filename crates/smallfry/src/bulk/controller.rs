//! How many workers a batch should have: what `Auto` decides, and nothing else.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// Bytes that cost about as much as one more operation, so that a batch of mixed sizes shows a steady rate.
const BYTES_PER_UNIT: f64 = 32.0 * 1024.0;

/// Less work than this, in seconds of one worker, is not worth a second one.
const WORTH_SHARING: f64 = 1e-3;

/// Work that each worker should find, in seconds: a few times what starting a thread costs.
const WORTH_STARTING: f64 = 200e-6;

/// What starting a worker is taken to cost, in seconds.
const START_COST: f64 = 60e-6;

/// The processors are full when this part of them is in use.
const FULL: f64 = 0.85;

/// A report that takes longer than this, in seconds, may be one of a worker that had to yield its processor.
const INTERRUPTION: f64 = 1e-3;

/// More workers have to bring this much, as a logarithm, to be kept.
const GAIN: f64 = 0.04;

/// Fewer workers may cost this much, as a logarithm, and are kept.
const TOLERANCE: f64 = 0.02;

/// A change of throughput by this much, as a logarithm, is a change of conditions if noise cannot explain it.
const CHANGE: f64 = 0.35;

/// The part of a batch's time that trials may lose.
const BUDGET: f64 = 0.01;

/// Standard errors beyond which a difference is taken as real before a trial has run its length.
const CERTAIN: f64 = 1.5;

/// What a controller may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Processors that this process may use: affinity and cgroup quota already taken into account.
    pub(crate) cores: usize,
    /// The most workers ever asked for.
    pub(crate) most_workers: usize,
}

/// What one worker did since its last report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Operations completed.
    pub(crate) operations: u32,
    /// Bytes that they moved.
    pub(crate) bytes: u64,
    /// Time that passed.
    pub(crate) elapsed: Duration,
    /// Processor time that the worker's thread used in it.
    pub(crate) busy: Duration,
}

/// Decides how many workers there should be.
#[derive(Debug)]
pub(crate) struct Controller {
    cores: f64,
    most: usize,
    /// The number asked for.
    workers: usize,
    phase: Phase,
    /// The best number known, and what it gave.
    best: Level,
    /// Reports not yet in any level's total.
    slice: Slice,
    noise: Noise,
    now: f64,
    /// Reports still to come that are about the time before the number changed.
    unsettled: usize,
    /// Reports in a row that spent their time waiting.
    waiting: usize,
    up: Probe,
    down: Probe,
}

#[derive(Debug)]
enum Phase {
    /// Finding out what `best.workers` give, nothing being known.
    Measuring(Why),
    /// Another number is at work, to be compared with the best.
    Trying(Trial),
    /// The best number is at work, and is watched.
    Settled,
}

#[derive(Debug)]
struct Level {
    workers: usize,
    total: Total,
    /// Settled slices in a row that differ from the total.
    unlike: u32,
}

#[derive(Debug)]
struct Trial {
    since: f64,
    /// Everything since the trial began.
    all: Total,
    /// Without the time in which new workers started and operations begun before came to an end.
    steady: Total,
    why: Why,
}

/// What a trial is part of, which decides what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    /// On the way up, nothing better being known.
    Climb,
    /// Conditions changed: if more is not better, fewer may be.
    Change,
    /// A look whether the best is still the best.
    Probe,
}

/// Sums over reports. `time` is the wall's, the same for all workers; `elapsed` is added up over the workers.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    work: f64,
    operations: f64,
    reports: f64,
    time: f64,
    elapsed: f64,
    busy: f64,
}

#[derive(Debug, Default)]
struct Slice {
    since: f64,
    total: Total,
}

/// The variance of one report's share in a rate, from the differences between neighbouring slices.
#[derive(Debug)]
struct Noise {
    variance: f64,
    seen: f64,
    last: Option<f64>,
}

/// When the next look in one direction is due, and what it will cost.
#[derive(Debug, Default)]
struct Probe {
    due: f64,
    failures: i32,
    /// The part of the throughput that such a trial is expected to lose.
    loss: f64,
}

impl Controller {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            cores: limits.cores.max(1) as f64,
            most: limits.most_workers.max(1),
            workers: 1,
            phase: Phase::Measuring(Why::Climb),
            unsettled: 0,
            best: Level::new(1),
            slice: Slice::default(),
            noise: Noise::unknown(),
            now: 0.0,
            waiting: 0,
            up: Probe::default(),
            down: Probe::default(),
        }
    }

    /// How many workers there should be now.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Takes one worker's report and says how many workers there should be. `now` counts from the batch's beginning;
    /// `remaining` is the number of operations not yet begun, if known.
    pub(crate) fn record(
        &mut self,
        now: Duration,
        sample: Sample,
        remaining: Option<usize>,
    ) -> usize {
        self.now = self.now.max(now.as_secs_f64());
        let report = Total::of(sample);
        if let Phase::Trying(trial) = &mut self.phase {
            trial.all.add(&report);
            trial.all.time = self.now - trial.since;
        }
        if self.unsettled > 0 {
            self.unsettled -= 1;
            if self.unsettled == 0 {
                self.arrived(remaining);
            }
            return self.workers;
        }
        self.waiting = if report.is_waiting() {
            self.waiting + 1
        } else {
            0
        };
        self.slice.total.add(&report);
        self.slice.total.time = self.now - self.slice.since;
        match self.phase {
            Phase::Measuring(why) => self.measure(why, remaining),
            Phase::Trying(_) => self.compare(remaining),
            Phase::Settled => self.watch(remaining),
        }
        self.workers
    }

    /// Asks for another number. As many reports as there are workers are then about operations begun before.
    fn set_workers(&mut self, workers: usize) {
        if workers != self.workers {
            self.unsettled = workers.max(self.workers);
        }
        self.workers = workers;
        self.waiting = 0;
        self.begin_slice();
    }

    fn begin_slice(&mut self) {
        self.slice = Slice {
            since: self.now,
            total: Total::default(),
        };
    }

    fn measure(&mut self, why: Why, remaining: Option<usize>) {
        let slice = &self.slice.total;
        let workers = self.workers as f64;
        // Workers that were in step may report together. What lies between two such moments belongs to the measure.
        let enough = slice.reports >= workers
            || slice.reports >= 16.0 && slice.time >= 0.5 * slice.per_report();
        // One slow operation says enough. A long report about several may be one in which another process had the
        // processor: wait for a second opinion.
        let doubtful = slice.is_waiting()
            && slice.operations > slice.reports
            && slice.per_report() > INTERRUPTION
            && self.waiting < 2;
        if slice.is_empty() || !enough || doubtful {
            return;
        }
        self.best.total.add(slice);
        self.noise = Noise::of(slice);
        self.begin_slice();
        self.explore(why, remaining);
    }

    /// Takes the next step up, or down if the processors are full, or settles.
    fn explore(&mut self, why: Why, remaining: Option<usize>) {
        let here = self.best.workers;
        let target = self.next_step(if why == Why::Probe { 2 } else { 4 });
        let affordable = self.affordable(remaining);
        if target < here || target > here && affordable > here {
            self.try_out(target.min(affordable), why);
        } else if target > here && here == 1 {
            self.phase = Phase::Measuring(why); // It may pay later.
        } else if why == Why::Change && here > 1 && !self.is_full() {
            self.try_out(here.div_ceil(2), Why::Probe);
        } else {
            self.settle();
        }
    }

    /// The number to try next, whatever it costs.
    fn next_step(&self, factor: usize) -> usize {
        let here = self.best.workers;
        let cores = (self.cores as usize).min(self.most);
        let load = self.best.total.load();
        if self.is_full() {
            return here.div_ceil(2).max(cores).min(here);
        }
        let wanted = if load < 0.5 || factor == 2 {
            here * factor
        } else {
            cores.max(here * 2)
        };
        // Utilisation law: this many workers like these would fill the processors.
        let useful = (self.cores / load.max(1e-9)).ceil().min(self.most as f64) as usize;
        wanted.min(useful).max(here)
    }

    fn is_full(&self) -> bool {
        self.best.total.load() * self.best.workers as f64 >= FULL * self.cores
    }

    /// Seconds of one worker's time that are left to do. Where nobody knows, as much as has been done.
    fn left(&self, remaining: Option<usize>) -> f64 {
        match remaining {
            Some(count) => count as f64 * self.best.total.per_operation(),
            None => self.now * self.best.workers as f64,
        }
    }

    /// How many workers the rest of the batch can keep busy for long enough.
    fn affordable(&self, remaining: Option<usize>) -> usize {
        let left = self.left(remaining);
        if left < WORTH_SHARING {
            return 1;
        }
        let by_time = (left / WORTH_STARTING) as usize;
        remaining.map_or(by_time, |count| {
            by_time.min(self.workers.saturating_add(count))
        })
    }

    fn try_out(&mut self, workers: usize, why: Why) {
        self.set_workers(workers);
        self.phase = Phase::Trying(Trial {
            since: self.now,
            all: Total::default(),
            steady: Total::default(),
            why,
        });
    }

    /// What was begun with the number before has come to an end.
    fn arrived(&mut self, remaining: Option<usize>) {
        self.begin_slice();
        let Phase::Trying(trial) = &self.phase else {
            return;
        };
        if trial.all.is_empty() {
            return;
        }
        let gain = (trial.all.rate() / self.best.total.rate()).ln();
        let error = self.noise.error(&trial.all, &self.best.total);
        let unknown = self.best.total.reports <= 2.0 && self.best.total.is_waiting();
        let required = if unknown {
            -error
        } else {
            (2.0 * error).max(0.4)
        };
        if self.workers > self.best.workers && gain > required {
            self.accept(gain, remaining);
        }
    }

    fn compare(&mut self, remaining: Option<usize>) {
        let Phase::Trying(trial) = &mut self.phase else {
            return;
        };
        let workers = self.workers as f64;
        let error = self.noise.error(&trial.all, &self.best.total);
        if trial.all.falls_short(
            workers,
            self.best.total.rate() * (-0.35 - 2.0 * error).exp(),
        ) {
            return self.reject();
        }
        if self.slice.total.reports < workers || self.slice.total.is_empty() {
            return;
        }
        trial.steady.add(&self.slice.total);
        self.noise.learn(&self.slice.total);
        let gain = (trial.steady.rate() / self.best.total.rate()).ln();
        let error = self.noise.error(&trial.steady, &self.best.total);
        let known = 4.0 * self.best.total.reports;
        let enough =
            trial.steady.reports >= self.noise.reports_for(0.025).min(known).max(2.0 * workers);
        // Where nothing better is known, and little of what is, waiting is a reason to go on unless it was for nothing.
        let hope = if trial.why == Why::Climb && self.best.total.is_waiting() {
            error
        } else {
            0.0
        };
        let certain = if trial.why == Why::Probe {
            2.0
        } else {
            CERTAIN
        };
        self.begin_slice();
        let required = if self.workers > self.best.workers {
            GAIN
        } else {
            -TOLERANCE
        };
        if gain > required + certain * error || (enough && gain + hope > required) {
            self.accept(gain, remaining);
        } else if gain < required - CERTAIN * error || enough {
            self.reject();
        }
    }

    fn accept(&mut self, gain: f64, remaining: Option<usize>) {
        let Phase::Trying(trial) = std::mem::replace(&mut self.phase, Phase::Settled) else {
            return;
        };
        let before = self.best.workers;
        let ratio = self.workers as f64 / before as f64;
        let slope = (gain / ratio.ln()).clamp(0.0, 1.0);
        self.up = Probe::default();
        self.down = Probe {
            loss: 1.0 - 0.5_f64.powf(slope),
            ..Probe::default()
        };
        self.best = Level::new(self.workers);
        self.best.total = if trial.steady.is_empty() {
            trial.all
        } else {
            trial.steady
        };
        if self.workers > before || self.is_full() {
            let quick = trial.why != Why::Probe || slope > 0.7;
            self.explore(if quick { Why::Climb } else { Why::Probe }, remaining);
        } else if self.workers > 1 {
            self.try_out(self.workers.div_ceil(2), Why::Probe);
        } else {
            self.settle();
        }
    }

    fn reject(&mut self) {
        let Phase::Trying(trial) = std::mem::replace(&mut self.phase, Phase::Settled) else {
            return;
        };
        let reference = self.best.total.rate();
        let error = self.noise.error(&trial.all, &self.best.total);
        let part = (1.0 - trial.all.rate() / reference).clamp(0.0, 1.0);
        // What noise explains as well counts for little.
        let part = part * part * part / (part * part + error * error).max(1e-9);
        let loss = trial.all.time * part;
        let upwards = self.workers > self.best.workers;
        if upwards {
            self.up.failed(self.now, loss, part, 3);
        } else {
            self.down.failed(self.now, loss, part, 8);
        }
        if upwards && trial.why == Why::Change && self.best.workers > 1 {
            self.try_out(self.best.workers.div_ceil(2), Why::Probe);
        } else {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.phase = Phase::Settled;
        self.set_workers(self.best.workers);
        let round = self.best.total.per_report();
        self.up.wait(self.now, round);
        self.down.wait(self.now, round);
    }

    fn watch(&mut self, remaining: Option<usize>) {
        let was_busy = !self.best.total.is_waiting();
        let workers = self.workers as f64;
        let slow = self.best.total.rate() * (-3.0 * CHANGE).exp();
        if was_busy && self.waiting >= 2 + self.workers / 2
            || !self.best.total.is_empty() && self.slice.total.falls_short(workers, slow)
        {
            return self.start_again();
        }
        let round = self
            .noise
            .reports_for(0.14)
            .clamp(2.0, 64.0)
            .max(self.workers as f64);
        if self.slice.total.reports < round || self.slice.total.is_empty() {
            return;
        }
        let slice = self.slice.total;
        self.begin_slice();
        self.noise.learn(&slice);
        if !self.best.total.is_empty() {
            let difference = (slice.rate() / self.best.total.rate()).ln();
            let error = self.noise.error(&slice, &self.best.total);
            if difference.abs() > CHANGE.max(3.0 * error) {
                self.best.unlike += 1;
                if self.best.unlike >= 2 || difference.abs() > 3.0 * CHANGE {
                    return self.start_again();
                }
                return;
            }
        }
        self.best.unlike = 0;
        self.best.total.add(&slice);
        self.best.total.fade();
        self.probe(remaining);
    }

    /// Conditions changed: what was known is worth nothing.
    fn start_again(&mut self) {
        self.best = Level::new(self.workers);
        self.noise = Noise::unknown();
        self.up = Probe::default();
        self.down = Probe::default();
        self.waiting = 0;
        self.unsettled = self.workers.min(16);
        self.phase = Phase::Measuring(Why::Change);
        self.begin_slice();
    }

    fn probe(&mut self, remaining: Option<usize>) {
        let length = 4.0 * self.best.total.per_report();
        if self.left(remaining) / (self.workers as f64) < 8.0 * length {
            return;
        }
        let allowed = BUDGET * self.now;
        let due = |probe: &Probe| self.now >= probe.due && probe.loss * length <= allowed;
        let above = self.next_step(2).min(self.affordable(remaining));
        if due(&self.up) && above > self.workers {
            self.try_out(above, Why::Probe);
        } else if due(&self.down) && self.workers > 1 {
            self.try_out(self.workers.div_ceil(2), Why::Probe);
        }
    }
}

impl Level {
    fn new(workers: usize) -> Self {
        Self {
            workers,
            total: Total::default(),
            unlike: 0,
        }
    }
}

impl Total {
    fn of(sample: Sample) -> Self {
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

    fn add(&mut self, other: &Self) {
        self.work += other.work;
        self.operations += other.operations;
        self.reports += other.reports;
        self.time += other.time;
        self.elapsed += other.elapsed;
        self.busy += other.busy;
    }

    /// Forgets the older half once there is plenty.
    fn fade(&mut self) {
        if self.reports > 1024.0 {
            for sum in [
                &mut self.work,
                &mut self.operations,
                &mut self.reports,
                &mut self.time,
                &mut self.elapsed,
                &mut self.busy,
            ] {
                *sum /= 2.0;
            }
        }
    }

    /// Is there no rate to be had from it?
    fn is_empty(&self) -> bool {
        self.work <= 0.0 || self.time <= 0.0
    }

    fn rate(&self) -> f64 {
        self.work / self.time
    }

    fn is_waiting(&self) -> bool {
        self.busy < 0.5 * self.elapsed
    }

    /// The part of a worker's time that it computes.
    fn load(&self) -> f64 {
        if self.elapsed > 0.0 {
            self.busy / self.elapsed
        } else {
            1.0
        }
    }

    /// Would the rate be below `rate` even if each worker were about to complete what it is at?
    fn falls_short(&self, workers: f64, rate: f64) -> bool {
        let at_best = self.work * (1.0 + workers / self.reports.max(1.0));
        self.reports >= 2.0 && at_best < rate * self.time
    }

    fn per_operation(&self) -> f64 {
        if self.operations > 0.0 {
            self.elapsed / self.operations
        } else {
            0.0
        }
    }

    fn per_report(&self) -> f64 {
        self.elapsed / self.reports.max(1.0)
    }
}

impl Noise {
    /// A first guess: operations differ by as much as they take.
    fn of(total: &Total) -> Self {
        Self {
            variance: (0.7 * total.reports / total.operations.max(1.0)).clamp(0.01, 0.7),
            ..Self::unknown()
        }
    }

    fn unknown() -> Self {
        Self {
            variance: 0.5,
            seen: 1.0,
            last: None,
        }
    }

    fn learn(&mut self, slice: &Total) {
        let rate = slice.rate().ln();
        if let Some(last) = self.last.replace(rate) {
            let difference = rate - last;
            let variance = (difference * difference / 2.0 * slice.reports).clamp(0.005, 8.0);
            self.seen = (self.seen + 1.0).min(16.0);
            self.variance += (variance - self.variance) / self.seen;
        }
    }

    /// The standard error of the logarithm of the ratio of two rates.
    fn error(&self, one: &Total, other: &Total) -> f64 {
        (self.variance * (1.0 / one.reports.max(1.0) + 1.0 / other.reports.max(1.0))).sqrt()
    }

    /// How many reports bring a rate's standard error down to `error`.
    fn reports_for(&self, error: f64) -> f64 {
        self.variance / (error * error)
    }
}

impl Probe {
    /// A trial in this direction was rejected.
    fn failed(&mut self, now: f64, loss: f64, part: f64, longest: i32) {
        self.failures = (self.failures + 1).min(longest);
        self.loss = part;
        self.due = now + loss / BUDGET;
    }

    /// Not before so many rounds.
    fn wait(&mut self, now: f64, round: f64) {
        self.due = self
            .due
            .max(now + 8.0 * round * f64::from(1 << self.failures));
    }
}
