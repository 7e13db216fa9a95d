//! How many workers a batch should have: what `Auto` decides, and nothing else.
//!
//! Workers report what they did every 250 us, the first time after 100 us, or after each operation that takes longer; the
//! controller answers how many there should be. There is no clock and no thread here, so all of it can be tried in simulated
//! time (`tests`).
//!
//! # How
//!
//! The rate is work done per second of wall time by all workers together. An operation is one unit of work and every 32 KiB
//! it moves another, so that files of all sizes show one rate.
//!
//! 1. **Measure.** A batch begins with one worker, the calling thread. One report tells waiting (processor time far below
//!    the time passed) from computing.
//! 2. **Climb.** Computing workers are worth as many as there are processors, once the rest of the batch pays for starting
//!    them. Waiting ones are multiplied by four, at most until they would fill the processors (the utilisation law). The new
//!    number is on trial: reports about operations begun before are left aside, then its rate is compared with the best
//!    one's, report by report, until the difference exceeds the noise or has been looked at for long enough. Better by 4 %,
//!    and the climb goes on; else the best number is back at once. Where the best rate rests on an operation or two, doubt
//!    speaks for going on, and before four or fewer that wait are settled for, sixteen are tried,
//!    whatever the law says.
//! 3. **Settle.** The best number is watched. A change of its rate that noise does not explain begins everything anew from
//!    there: fewer first if workers that waited got slower, as when a device collapses, and these have to be better by 20 %;
//!    more first if they computed before,
//!    as when files are no longer in memory. Full processors lead down to their number. Where the rate swings by itself,
//!    as over files that lie beside each other here and scattered there, only what lasts longer than the swings seen so
//!    far is a change.
//! 4. **Probe.** Some conditions change without showing: a server that could now take more than it is sent. So twice the
//!    number and half of it are tried now and then, when what such a trial lost last time, or must lose, is 1 % or less of
//!    the time since, and less and less often while they fail. Half of it is kept if it costs no more than 2 %: among equals
//!    fewer win.
//!
//! # Why so
//!
//! Rates are compared, never latencies: with a reordering disk both rise together, and only the rate says that this is good.
//! Noise is learned from neighbouring stretches of time, because it differs a hundredfold between files in memory and a
//! server with a heavy tail; fixed windows would be too long for one and too short for the other. Steps are factors, because
//! what is gained by one more worker drowns in noise.
//!
//! Ideas are from these, the rest is what the simulator showed to work: the utilisation law (Denning and Buzen 1978, "The
//! operational analysis of queueing network models"); hill climbing on throughput (Hellerstein, Morrison and Eilebrecht 2008,
//! "Optimizing concurrency levels in the .NET `ThreadPool`"), whose 10 to 200 ms a sample are a whole batch here; limits after
//! TCP Vegas (Netflix concurrency-limits, Envoy's adaptive concurrency), which guard latency; sequential tests (Wald 1945);
//! the variance from successive differences (von Neumann 1941).

mod measure;
mod probe;
mod swings;
#[cfg(test)]
mod tests;

use measure::{Noise, Total};
use probe::Probe;
use std::time::Duration;
use swings::Swings;

/// Less work than this, in seconds of one worker, is not worth a second one.
const WORTH_SHARING: f64 = 1e-3;

/// Work that each worker should find, in seconds: a few times what starting a thread costs.
const WORTH_STARTING: f64 = 200e-6;

/// A report that takes longer than this, in seconds, may be one of a worker that had to yield its processor.
const INTERRUPTION: f64 = 1e-3;

/// More workers have to bring this much, as a logarithm, to be kept.
const GAIN: f64 = 0.04;

/// Fewer workers may cost this much, as a logarithm, and are kept.
const TOLERANCE: f64 = 0.02;

/// A change of throughput by this much, as a logarithm, is a change of conditions if noise cannot explain it.
const CHANGE: f64 = 0.35;

/// What lasts for more operations than this, one after the other, is worth a search however often it comes back.
const ROUNDS: f64 = 1024.0;

/// Half the workers do not bring this much, as a logarithm, by being fewer.
const RETURN: f64 = 1.0;

/// So many workers that wait do no harm; half of them would save nothing, and can be twenty times as slow on a disk
/// whose head waits for neighbours.
const FEW: usize = 4;

/// So many workers are tried before few that wait are taken for the best: to a disk whose head waits for neighbours four
/// requests may be no better than one, and sixteen twenty times as good.
const LEAP: usize = 16;

/// Where workers wait, fewer of them have to bring this much, as a logarithm, after a change. More seldom do harm, and
/// slow files come and go by themselves.
const RELIEF: f64 = 0.2;

/// Standard errors beyond which a difference is taken as real before a trial has run its length.
const CERTAIN: f64 = 1.5;

/// Reports of each worker without which processors that are there are not given up: new threads have cold caches and
/// fresh memory at first, and the number before was measured for 0.1 ms only.
const PATIENCE: f64 = 8.0;

/// What a controller may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Processors that this process may use: affinity and cgroup quota already taken into account.
    pub(crate) cores: usize,
    /// The most workers ever asked for.
    pub(crate) max_workers: usize,
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
    swings: Swings,
    now: f64,
    /// Reports still to come that are about the time before the number changed.
    unsettled: usize,
    /// When conditions or the number changed.
    changed: f64,
    /// Reports in a row that spent their time waiting.
    waiting: usize,
    up: Probe,
    down: Probe,
    /// A trial of [`LEAP`] workers or more was begun since conditions changed.
    leapt: bool,
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
    /// The total is from while workers started: good enough to go on from, not to compare with.
    provisional: bool,
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
    /// Workers that waited already got slower: if fewer are not better, more may be.
    Change,
    /// A look whether the best is still the best.
    Probe,
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
            most: limits.max_workers.max(1),
            workers: 1,
            phase: Phase::Measuring(Why::Climb),
            unsettled: 0,
            changed: 0.0,
            best: Level::new(1),
            slice: Slice::default(),
            noise: Noise::unknown(),
            swings: Swings::default(),
            now: 0.0,
            waiting: 0,
            up: Probe::default(),
            down: Probe::default(),
            leapt: false,
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
            trial.all.add(&report.since(self.now - trial.since));
            trial.all.time = self.now - trial.since;
        }
        if self.unsettled > 0 {
            self.unsettled -= 1;
            if self.unsettled == 0 {
                self.arrived(remaining);
            }
            return self.workers;
        }
        // Many quick operations and a slow one: the quick ones belong to the time before.
        let began = self.now - report.elapsed;
        let mixed = report.operations > 1.0 && began < self.changed;
        if mixed && matches!(self.phase, Phase::Measuring(_)) {
            return self.workers;
        }
        self.waiting = if report.load() < 0.25 {
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
        self.changed = self.now;
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
        if workers <= self.cores && self.is_full() {
            // Each has a processor to itself: half of them would do half as much.
            self.down = Probe::expecting(0.5 * self.best.total.rate());
        }
        self.begin_slice();
        self.explore(why, remaining);
    }

    /// Takes the next step up, or down if the processors are full, or settles.
    fn explore(&mut self, why: Why, remaining: Option<usize>) {
        let here = self.best.workers;
        let target = self.next_step(if why == Why::Probe { 2 } else { 4 });
        let affordable = self.affordable(remaining);
        if why == Why::Change && self.has_many() {
            self.try_out(here.div_ceil(2), why);
        } else if target < here || target > here && affordable > here {
            self.try_out(target.min(affordable), why);
        } else if target > here && here == 1 {
            self.phase = Phase::Measuring(why); // It may pay later.
        } else {
            self.settle(remaining);
        }
    }

    /// The number to try next, whatever it costs.
    fn next_step(&self, factor: usize) -> usize {
        let here = self.best.workers;
        let cores = whole(self.cores).min(self.most);
        let load = self.best.total.load();
        if self.is_full() {
            return here.div_ceil(2).max(cores).min(here);
        }
        let wanted = if load < 0.5 || factor == 2 {
            here.saturating_mul(factor)
        } else {
            cores.max(here.saturating_mul(2))
        };
        // Utilisation law: this many workers like these would fill the processors.
        let useful = whole((1.25 * self.cores / load.max(1e-9)).ceil());
        wanted.min(useful).min(self.most).max(here)
    }

    /// Are there so many workers that half of them would be a relief to anybody?
    fn has_many(&self) -> bool {
        self.best.workers > if self.best.total.is_waiting() { FEW } else { 1 }
    }

    fn is_full(&self) -> bool {
        let load = self.best.total.load();
        let full = if load > 0.5 { 0.85 } else { 0.95 };
        load * self.best.workers as f64 >= full * self.cores
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
        let by_time = whole(left / WORTH_STARTING);
        remaining.map_or(by_time, |count| {
            by_time.min(self.workers.saturating_add(count))
        })
    }

    fn try_out(&mut self, workers: usize, why: Why) {
        self.leapt |= workers >= LEAP.min(self.most);
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
        let Phase::Trying(trial) = &mut self.phase else {
            return;
        };
        if self.workers < self.best.workers {
            // What came until now was the work of more workers.
            trial.all = Total::default();
            trial.since = self.now;
            return;
        }
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
        if gain > required {
            self.accept(gain, remaining);
        }
    }

    fn compare(&mut self, remaining: Option<usize>) {
        let Phase::Trying(trial) = &mut self.phase else {
            return;
        };
        let workers = self.workers as f64;
        let error = self.noise.error(&trial.all, &self.best.total);
        let has_processors = self.workers > self.best.workers && workers <= self.cores;
        let patient = has_processors
            && trial.why == Why::Climb
            && !self.best.total.is_waiting()
            && trial.all.reports < PATIENCE * workers;
        if !patient
            && trial.all.falls_short(
                workers,
                self.best.total.rate() * (-0.35 - 2.0 * error).exp(),
            )
        {
            return self.reject(remaining);
        }
        if self.slice.total.reports < workers || self.slice.total.is_empty() {
            return;
        }
        trial.steady.add(&self.slice.total);
        self.noise.learn(&self.slice.total);
        let (steady, why) = (trial.steady, trial.why);
        let gain = (steady.rate() / self.best.total.rate()).ln();
        self.begin_slice();
        match self.verdict(&steady, gain, why) {
            Some(true) => self.accept(gain, remaining),
            Some(false) if !patient => self.reject(remaining),
            Some(false) | None => {}
        }
    }

    /// Is the number on trial to be kept? `None` if that is not clear yet.
    fn verdict(&self, steady: &Total, gain: f64, why: Why) -> Option<bool> {
        let best = &self.best.total;
        let two_rounds = 2.0 * self.workers as f64;
        let error = self.noise.error(steady, best);
        let required = if self.workers > self.best.workers {
            GAIN
        } else if why == Why::Change && best.is_waiting() {
            RELIEF
        } else {
            -TOLERANCE
        };
        // More reports than four times as many as the best number has would not make the comparison much better.
        let enough = self.noise.reports_for(0.025).min(4.0 * best.reports);
        let long_enough = steady.reports >= enough.max(two_rounds);
        // Where nothing better is known, and little of what is, waiting is a reason to go on unless it was for nothing.
        let hope = match why {
            Why::Climb if best.is_waiting() && best.reports <= 2.0 => error,
            Why::Climb if best.is_waiting() => error.min(0.25),
            _ => 0.0,
        };
        // Nobody waits for a probe's outcome, and each is one more chance to be wrong.
        let (certain, seen) = if why == Why::Probe {
            (2.0, steady.reports >= two_rounds.max(12.0))
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

    fn accept(&mut self, gain: f64, remaining: Option<usize>) {
        let Phase::Trying(trial) = std::mem::replace(&mut self.phase, Phase::Settled) else {
            return;
        };
        let before = self.best.workers;
        if trial.why == Why::Change && self.workers < before && gain > RETURN {
            // More than fewer workers can bring: what had changed has changed back.
            self.swings.returned(self.now);
            self.set_workers(before);
            self.best = Level::new(before);
            self.phase = Phase::Measuring(Why::Climb);
            return;
        }
        let unknown = self.best.total.reports <= 2.0;
        let ratio = self.workers as f64 / before as f64;
        let slope = (gain / ratio.ln()).clamp(0.0, 1.0);
        self.best = Level::new(self.workers);
        self.best.provisional = trial.steady.is_empty();
        self.best.total = if self.best.provisional {
            trial.all
        } else {
            trial.steady
        };
        self.up = Probe::default();
        self.down = Probe::expecting(self.best.total.rate() * 0.5_f64.powf(slope));
        if self.workers > before || self.is_full() {
            let quick = slope > 0.7 || trial.why != Why::Probe && (slope > 0.1 || unknown);
            self.explore(if quick { Why::Climb } else { Why::Probe }, remaining);
        } else if self.has_many() {
            self.try_out(self.workers.div_ceil(2), Why::Probe);
        } else {
            self.settle(remaining);
        }
    }

    fn reject(&mut self, remaining: Option<usize>) {
        let Phase::Trying(trial) = std::mem::replace(&mut self.phase, Phase::Settled) else {
            return;
        };
        let reference = self.best.total.rate();
        let error = self.noise.error(&trial.all, &self.best.total);
        let part = (1.0 - trial.all.rate() / reference).clamp(0.0, 1.0);
        // What noise explains as well counts for little.
        let part = part * part * part / (part * part + error * error).max(1e-9);
        let rate = reference * (1.0 - part);
        let upwards = self.workers > self.best.workers;
        let most = if part > 0.1 { 6 } else { 3 };
        if trial.why == Why::Change {
            // Found out in the midst of a change, so worth little.
        } else if upwards {
            self.up.failed(self.now, rate, most);
        } else {
            self.down.failed(self.now, rate, most);
        }
        if trial.why == Why::Change {
            self.explore(Why::Climb, remaining);
        } else if trial.why == Why::Climb
            && self.best.total.is_waiting()
            && self.best.total.reports < 4.0
        {
            // So little was known that it may have been chance.
            self.set_workers(self.best.workers);
            self.phase = Phase::Measuring(Why::Climb);
        } else {
            self.settle(remaining);
        }
    }

    fn settle(&mut self, remaining: Option<usize>) {
        let few = self.best.total.is_waiting() && self.best.workers <= FEW;
        let leap = LEAP.min(self.most);
        if few && !self.leapt && leap > self.best.workers && self.affordable(remaining) >= leap {
            return self.try_out(leap, Why::Climb);
        }
        self.phase = Phase::Settled;
        self.set_workers(self.best.workers);
        let round = self.best.total.per_report();
        self.up.wait(self.now, round);
        self.down.wait(self.now, round);
    }

    fn watch(&mut self, remaining: Option<usize>) {
        let was_busy = self.best.total.load() > 0.75;
        let workers = self.workers as f64;
        let slow = self.best.total.rate() * (-3.0 * CHANGE).exp();
        let stopped = was_busy && self.waiting >= 2 + self.workers / 2;
        if stopped || !self.best.total.is_empty() && self.slice.total.falls_short(workers, slow) {
            let why = if was_busy { Why::Climb } else { Why::Change };
            self.swings.begin(self.slice.since, self.best.total.rate());
            if stopped || self.swings.is_more(self.now) {
                return self.start_again(why);
            }
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
        let since = self.slice.since;
        self.begin_slice();
        self.noise.learn(&slice);
        self.swings
            .look(self.now, slice.rate(), ROUNDS * slice.per_report());
        if self.best.provisional {
            self.best.provisional = false;
            self.best.total = slice;
        } else if !self.best.total.is_empty() {
            let difference = (slice.rate() / self.best.total.rate()).ln();
            let error = self.noise.error(&slice, &self.best.total);
            if difference.abs() > CHANGE.max(3.0 * error) {
                self.best.unlike += 1;
                self.swings.begin(since, self.best.total.rate());
                if (self.best.unlike >= 2 || difference.abs() > 3.0 * CHANGE)
                    && self.swings.is_more(self.now)
                {
                    let why = if difference < 0.0 && !was_busy {
                        Why::Change
                    } else {
                        Why::Climb
                    };
                    return self.start_again(why);
                }
                return;
            }
            self.best.unlike = 0;
            self.best.total.add(&slice);
        }
        self.best.total.fade();
        self.probe(remaining);
    }

    /// Conditions changed: what was known is worth nothing.
    fn start_again(&mut self, why: Why) {
        self.leapt = false;
        self.best = Level::new(self.workers);
        self.noise = Noise::unknown();
        self.up = Probe::default();
        self.down = Probe::default();
        self.waiting = 0;
        self.unsettled = self.workers.min(16) / if why == Why::Change { 1 } else { 4 };
        self.changed = self.now;
        self.phase = Phase::Measuring(why);
        self.begin_slice();
    }

    fn probe(&mut self, remaining: Option<usize>) {
        let length = 4.0 * self.best.total.per_report();
        if self.left(remaining) / (self.workers as f64) < 8.0 * length {
            return;
        }
        let rate = self.best.total.rate();
        let due = |probe: &Probe| probe.is_due(self.now, rate, length);
        let above = self.next_step(2).min(self.affordable(remaining));
        if due(&self.up) && above > self.workers {
            self.try_out(above, Why::Probe);
        } else if due(&self.down) && self.has_many() {
            self.try_out(self.workers.div_ceil(2), Why::Probe);
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "nothing here is negative")]
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
