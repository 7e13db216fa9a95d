//! A machine to run batches on in simulated time: processors, a device, and workers that come and
//! go.
//!
//! Discrete events. Operations are taken from one list in order; what the n-th costs depends on the
//! seed and on n only, so that every number of workers does the same work. An operation computes
//! first and then waits for its device. Processors are shared evenly among all that compute. A
//! worker starts in 60 us of processor time, reports as an engine would, and stops between
//! operations only.

use super::super::{Controller, Limits, Sample};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

const START: f64 = 60e-6;
const FIRST_REPORT: f64 = 100e-6;
const REPORT: f64 = 250e-6;

/// The thing that an operation waits for. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Device {
    /// Nothing: files are in memory.
    Memory,
    /// An answer. Any number of answers can be awaited at once.
    Distant { mean: f64 },
    /// One of `count` servers, first come, first served.
    Servers { count: usize, mean: f64 },
    /// One server, whose time per operation depends on how many are queued: `rest + saved /
    /// sqrt(queued)`.
    Reordering { rest: f64, saved: f64 },
    /// One server that is 20 times as fast while at least `fewest` are queued, as a disk whose
    /// head waits for neighbours.
    Gathering { fewest: usize, mean: f64 },
    /// One server that is at its best with `best` queued and gets slower by `slope` of its time
    /// with each beyond.
    Collapsing { best: usize, mean: f64, slope: f64 },
    /// One of `count` servers that all get slower by `slope` with each worker beyond `count`.
    Contended { count: usize, mean: f64, slope: f64 },
    /// A lock. A worker that waits for it burns its processor if `spins`.
    Lock { held: f64, spins: bool },
}

/// A stretch of equal operations, by the first of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) from: usize,
    /// Processor time of an operation without bytes, in seconds.
    pub(super) compute: f64,
    pub(super) device: Device,
    pub(super) times: Times,
}

/// The spread of the device's times around their mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Times {
    /// Half to one and a half of the mean.
    Even,
    Exponential,
    /// One in 25 takes 10 times as long as the others.
    HeavyTailed,
    /// Some hundred neighbours quick, others 8 times as slow, as where files lie beside each other
    /// here and scattered there.
    Bursts,
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) cores: usize,
    pub(super) operations: usize,
    /// Files have between 0 and twice as many bytes.
    pub(super) mean_bytes: u64,
    /// The rate at which an operation is interrupted for 2 ms by something else on the machine.
    pub(super) interruptions: f64,
    pub(super) stretches: Vec<Stretch>,
    /// True if the number of operations is known beforehand.
    pub(super) counted: bool,
}

/// Decides how many workers there are.
pub(super) trait Rule {
    fn workers(&self) -> usize;

    fn record(&mut self, _now: Duration, _sample: Sample, _remaining: Option<usize>) {}
}

/// A fixed number of workers.
pub(super) struct Fixed(pub(super) usize);

impl Rule for Fixed {
    fn workers(&self) -> usize {
        self.0
    }
}

impl Rule for Controller {
    fn workers(&self) -> usize {
        Self::workers(self)
    }

    fn record(&mut self, now: Duration, sample: Sample, remaining: Option<usize>) {
        Self::record(self, now, sample, remaining);
    }
}

#[derive(Debug)]
pub(super) struct Run {
    /// Seconds until the last operation ended.
    pub(super) time: f64,
    /// Operations that ended.
    pub(super) done: usize,
    /// The most workers at a time.
    pub(super) max_workers: usize,
    /// Number of workers whenever it changed.
    pub(super) history: Vec<(f64, usize)>,
}

impl World {
    pub(super) fn auto(&self, seed: u64, max_workers: usize) -> Run {
        let limits = Limits {
            cores: self.cores,
            max_workers,
        };
        self.run(seed, &mut Controller::new(limits))
    }

    /// Runs a batch whose operations are requests to a server.
    pub(super) fn requests(&self, seed: u64, max_workers: usize) -> Run {
        let limits = Limits {
            cores: self.cores,
            max_workers,
        };
        let mut controller = Controller::new(limits);
        controller.are_for_requests(max_workers);
        self.run(seed, &mut controller)
    }

    pub(super) fn fixed(&self, seed: u64, workers: usize) -> Run {
        self.run(seed, &mut Fixed(workers))
    }

    pub(super) fn run(&self, seed: u64, rule: &mut dyn Rule) -> Run {
        Simulation::new(self, seed, rule).run()
    }
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    stretch: usize,
    compute: f64,
    service: f64,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Worker {
    running: bool,
    reported: f64,
    sample: Counted,
    current: Option<Operation>,
    asked: f64,
    reports: u32,
}

#[derive(Debug, Default)]
struct Counted {
    operations: u32,
    bytes: u64,
    busy: f64,
}

#[derive(Default)]
struct Server {
    at_work: usize,
    queue: VecDeque<usize>,
}

#[derive(Clone, Copy, PartialEq)]
struct At(f64, usize);

impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

struct Simulation<'a> {
    world: &'a World,
    seed: u64,
    rule: &'a mut dyn Rule,
    now: f64,
    next: usize,
    running: usize,
    workers: Vec<Worker>,
    servers: Vec<Server>,
    /// The service of each processor-sharing job so far, if it were there from the beginning.
    attained: f64,
    computing: BinaryHeap<Reverse<At>>,
    answers: BinaryHeap<Reverse<At>>,
    run: Run,
}

impl<'a> Simulation<'a> {
    fn new(world: &'a World, seed: u64, rule: &'a mut dyn Rule) -> Self {
        Self {
            world,
            seed,
            rule,
            now: 0.0,
            next: 0,
            running: 0,
            workers: Vec::new(),
            servers: world.stretches.iter().map(|_| Server::default()).collect(),
            attained: 0.0,
            computing: BinaryHeap::new(),
            answers: BinaryHeap::new(),
            run: Run {
                time: 0.0,
                done: 0,
                max_workers: 0,
                history: Vec::new(),
            },
        }
    }

    fn run(mut self) -> Run {
        self.start_up_to(self.rule.workers());
        loop {
            let rate = (self.world.cores as f64 / self.computing.len() as f64).min(1.0);
            let computed = self
                .computing
                .peek()
                .map(|Reverse(job)| (self.now + (job.0 - self.attained) / rate).max(self.now));
            let answered = self.answers.peek().map(|Reverse(answer)| answer.0);
            let compute_first = match (computed, answered) {
                (None, None) => break,
                (Some(computed), Some(answered)) => computed <= answered,
                (computed, _) => computed.is_some(),
            };
            let then = if compute_first { computed } else { answered }.unwrap();
            self.attained += (then - self.now) * rate;
            self.now = then;
            if compute_first {
                let Reverse(job) = self.computing.pop().unwrap();
                self.attained = self.attained.max(job.0);
                self.computed(job.1);
            } else {
                let Reverse(answer) = self.answers.pop().unwrap();
                self.answered(answer.1);
            }
        }
        self.run.time = self.now;
        self.run
    }

    fn start_up_to(&mut self, wanted: usize) {
        for index in 0..wanted {
            if index == self.workers.len() {
                self.workers.push(Worker::default());
            }
            if self.workers[index].running || self.next == self.world.operations {
                continue;
            }
            self.running += 1;
            self.workers[index] = Worker {
                running: true,
                reported: self.now,
                ..Worker::default()
            };
            if index == 0 {
                self.take(0);
            } else {
                self.compute(index, START);
            }
        }
        self.run.max_workers = self.run.max_workers.max(self.running);
        if self.run.history.last().is_none_or(|last| last.1 != wanted) {
            self.run.history.push((self.now, wanted));
        }
    }

    fn compute(&mut self, worker: usize, time: f64) {
        self.computing
            .push(Reverse(At(self.attained + time, worker)));
    }

    /// A worker takes the next operation.
    fn take(&mut self, worker: usize) {
        if self.next == self.world.operations {
            return self.stop(worker);
        }
        let operation = self.world.operation(self.seed, self.next);
        self.next += 1;
        self.workers[worker].current = Some(operation);
        self.workers[worker].sample.busy += operation.compute;
        self.compute(worker, operation.compute);
    }

    fn stop(&mut self, worker: usize) {
        self.workers[worker].running = false;
        self.running -= 1;
    }

    fn computed(&mut self, worker: usize) {
        let Some(operation) = self.workers[worker].current else {
            self.workers[worker].reported = self.now; // It has just started.
            return self.take(worker);
        };
        let stretch = &self.world.stretches[operation.stretch];
        self.workers[worker].asked = self.now;
        match stretch.device {
            Device::Memory if operation.service > 0.0 => self.answer(worker, operation.service),
            Device::Memory => self.done(worker),
            Device::Distant { mean } => self.answer(worker, mean * operation.service),
            _ => {
                self.servers[operation.stretch].queue.push_back(worker);
                self.serve(operation.stretch);
            }
        }
    }

    fn answer(&mut self, worker: usize, time: f64) {
        self.answers.push(Reverse(At(self.now + time, worker)));
    }

    fn serve(&mut self, stretch: usize) {
        let device = self.world.stretches[stretch].device;
        loop {
            let server = &mut self.servers[stretch];
            let most = match device {
                Device::Servers { count, .. } | Device::Contended { count, .. } => count,
                _ => 1,
            };
            if server.at_work == most {
                return;
            }
            let queued = server.queue.len();
            let Some(worker) = server.queue.pop_front() else {
                return;
            };
            server.at_work += 1;
            let service = self.workers[worker].current.unwrap().service;
            let queued = match device {
                Device::Contended { .. } => self.running,
                _ => queued,
            };
            self.answer(worker, service * device.time(queued));
        }
    }

    fn answered(&mut self, worker: usize) {
        let operation = self.workers[worker].current.unwrap();
        let device = self.world.stretches[operation.stretch].device;
        if !matches!(device, Device::Memory | Device::Distant { .. }) {
            self.servers[operation.stretch].at_work -= 1;
            self.serve(operation.stretch);
        }
        if let Device::Lock { held, spins } = device {
            let waited = self.now - self.workers[worker].asked;
            self.workers[worker].sample.busy += if spins { waited } else { held };
        }
        self.done(worker);
    }

    fn done(&mut self, index: usize) {
        let worker = &mut self.workers[index];
        let operation = worker.current.take().unwrap();
        self.run.done += 1;
        worker.sample.operations += 1;
        worker.sample.bytes += operation.bytes;
        let interval = if worker.reports == 0 {
            FIRST_REPORT
        } else {
            REPORT
        };
        if self.now - worker.reported >= interval {
            self.report(index);
        }
        if index < self.rule.workers() {
            self.take(index);
        } else {
            self.report(index);
            self.stop(index);
        }
    }

    fn report(&mut self, index: usize) {
        let worker = &mut self.workers[index];
        let sample = std::mem::take(&mut worker.sample);
        let elapsed = self.now - worker.reported;
        worker.reported = self.now;
        worker.reports += 1;
        if sample.operations == 0 {
            return;
        }
        let sample = Sample {
            operations: sample.operations,
            bytes: sample.bytes,
            elapsed: Duration::from_secs_f64(elapsed),
            busy: Duration::from_secs_f64(sample.busy),
        };
        let remaining = self
            .world
            .counted
            .then(|| self.world.operations - self.next);
        let now = Duration::from_secs_f64(self.now);
        self.rule.record(now, sample, remaining);
        self.start_up_to(self.rule.workers());
    }
}

impl World {
    fn operation(&self, seed: u64, index: usize) -> Operation {
        let random = |number: usize| {
            let seed = (seed << 32 | number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            fastrand::Rng::with_seed(seed)
        };
        let burst = random(index / 128).f64();
        let mut random = random(index);
        let stretch = self
            .stretches
            .iter()
            .rposition(|stretch| stretch.from <= index)
            .unwrap();
        let settings = &self.stretches[stretch];
        let bytes = random.u64(0..=2 * self.mean_bytes);
        let copying = bytes as f64 * 0.15e-9;
        let compute = settings.compute * (0.7 + 0.6 * random.f64()) + copying;
        let interrupted = random.f64() < self.interruptions;
        let service = match settings.device {
            Device::Memory => 0.0,
            _ => settings.times.draw(&mut random, burst),
        };
        Operation {
            stretch,
            compute,
            service: service
                + if interrupted && service == 0.0 {
                    2e-3
                } else {
                    0.0
                },
            bytes,
        }
    }
}

impl Times {
    /// `burst` is drawn for many neighbours together.
    fn draw(self, random: &mut fastrand::Rng, burst: f64) -> f64 {
        match self {
            Self::Bursts => (0.5 + random.f64()) * if burst < 0.3 { 8.0 / 3.1 } else { 1.0 / 3.1 },
            Self::Even => 0.5 + random.f64(),
            Self::Exponential => -(1.0 - random.f64()).ln(),
            Self::HeavyTailed if random.f64() < 0.04 => 10.0 / 1.36 * (0.5 + random.f64()),
            Self::HeavyTailed => (0.5 + random.f64()) / 1.36,
        }
    }
}

impl Device {
    /// A mean operation's time with so many queued, itself included.
    fn time(self, queued: usize) -> f64 {
        let queued = queued.max(1) as f64;
        match self {
            Self::Memory => 0.0,
            Self::Reordering { rest, saved } => rest + saved / queued.sqrt(),
            Self::Gathering { fewest, mean } if queued < fewest as f64 => 20.0 * mean,
            Self::Distant { mean } | Self::Servers { mean, .. } | Self::Gathering { mean, .. } => {
                mean
            }
            Self::Collapsing { best, mean, slope } => {
                let best = best as f64;
                if queued <= best {
                    mean * (best / queued).sqrt()
                } else {
                    mean * (1.0 + slope * (queued - best))
                }
            }
            Self::Contended { count, mean, slope } => {
                mean * (1.0 + slope * (queued - count as f64).max(0.0))
            }
            Self::Lock { held, .. } => held * (1.0 + 0.05 * (queued - 1.0).min(8.0)),
        }
    }
}
