//! Who works on a batch: how many workers there are and should be, and what each of them measures.

use std::ffi::c_long;
use std::sync::atomic::AtomicUsize as ProcessWide;
use std::time::Duration;

use super::Strategy;
use super::controller::{Controller, Limits, Sample};
use super::descriptors;
use crate::sync::{AtomicUsize, Instant, Mutex, Ordering, PoisonError};
use crate::sys::{available_cores, thread_cpu_time, times_waited};

/// Workers that `Auto` gives one batch, and that all batches of the process together may have beside those that were
/// asked for by number.
pub(super) const MAX_WORKERS: usize = 64;
/// How much work a worker does between two reports, and before its first one.
const REPORT: Duration = Duration::from_micros(250);
const FIRST_REPORT: Duration = Duration::from_micros(100);
/// An operation shorter than this came from the cache, and the next ones likely do too.
pub(super) const SHORT: Duration = Duration::from_micros(50);
/// Of short operations the processor time of only one in so many is looked at: that is a system call, twice.
const ONE_IN: u32 = 32;
/// And the clock at one in so many.
const TIMED_ONE_IN: u32 = 8;

/// Worker threads of the whole process that `Auto` has asked for.
static WORKERS: ProcessWide = ProcessWide::new(0);

/// The workers of one batch, or of other work that comes in many pieces: how many there should be.
pub struct Workers {
    /// `None` where the caller named a number.
    controller: Option<Mutex<Controller>>,
    began: Instant,
    wanted: AtomicUsize,
    active: AtomicUsize,
}

impl Workers {
    /// Nobody is there yet.
    pub fn new(strategy: Strategy) -> Self {
        let most = descriptors::max_workers();
        let (wanted, controller) = match strategy {
            Strategy::CallingThread => (1, None),
            Strategy::Threads(count) => (count.get().min(most), None),
            Strategy::Auto => {
                let max_workers = MAX_WORKERS.min(most);
                let controller = Controller::new(Limits {
                    cores: available_cores().get(),
                    max_workers,
                });
                let wanted = controller.workers();
                (wanted, Some(Mutex::new(controller)))
            }
        };
        Self {
            controller,
            began: Instant::now(),
            wanted: AtomicUsize::new(wanted),
            active: AtomicUsize::new(0),
        }
    }

    /// How many workers there should be.
    pub fn wanted(&self) -> usize {
        self.wanted.load(Ordering::Relaxed)
    }

    /// How many there are.
    pub(super) fn active(&self) -> usize {
        self.active.load(Ordering::Acquire)
    }

    /// A place for one more worker thread, if one is wanted and the process may have one. Whoever gets it must
    /// [`leave`](Self::leave) in the end.
    pub(super) fn join(&self) -> bool {
        let join = |active: usize| (active < self.wanted()).then_some(active + 1);
        let joined = self
            .active
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, join);
        if joined.is_err() {
            return false;
        }
        if self.enter_process() >= MAX_WORKERS {
            self.leave();
            return false;
        }
        true
    }

    /// Counts a worker thread of the process, and answers how many there were. One that was asked for by number does not
    /// take the place of those that `Auto` finds.
    fn enter_process(&self) -> usize {
        match self.controller {
            Some(_) => WORKERS.fetch_add(1, Ordering::Relaxed),
            None => 0,
        }
    }

    fn leave_process(&self) {
        if self.controller.is_some() {
            WORKERS.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A place for the first worker thread, whoever else there is in the process.
    pub(super) fn force_join(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
        self.enter_process();
    }

    /// The consumer's own thread is one of the workers.
    pub(super) fn attend(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// It is not any more.
    pub(super) fn absent(&self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// There is one worker, and that is how it should be.
    pub(super) fn is_one(&self) -> bool {
        self.wanted() == 1 && self.active() == 1
    }

    /// A worker thread's place is free again.
    pub(super) fn leave(&self) {
        self.leave_process();
        self.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// Gives up a worker thread's place if there are more workers than wanted: true if the one who asks has to go.
    pub(super) fn dismiss(&self) -> bool {
        let leave = |active: usize| (active > self.wanted()).then(|| active - 1);
        let left = self
            .active
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, leave)
            .is_ok();
        if left {
            self.leave_process();
        }
        left
    }

    /// As a controller would say it.
    #[cfg(all(test, loom))]
    pub(super) fn want(&self, workers: usize) {
        self.wanted.store(workers, Ordering::Relaxed);
    }

    fn record(&self, sample: Sample, remaining: Option<usize>) {
        let Some(controller) = &self.controller else {
            return;
        };
        let mut controller = controller.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = controller.record(self.began.elapsed(), sample, remaining);
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// A new worker's meter.
    pub fn meter(&self) -> Meter {
        Meter {
            measures: self.controller.is_some(),
            ..Meter::default()
        }
    }
}

/// What one worker has done since its last report.
#[derive(Default)]
pub struct Meter {
    measures: bool,
    /// It has reported before.
    reported: bool,
    /// Short operations to let pass before processor time is looked at again.
    skip: u32,
    /// The part of the last one's time that was processor time.
    part: f64,
    /// What a short operation takes, as the last one that was timed.
    typical: Duration,
    operations: u32,
    bytes: u64,
    elapsed: Duration,
    busy: Duration,
    /// How often the thread had waited for anything when the first of these operations began.
    waits: Option<c_long>,
}

/// When an operation began.
pub struct Start {
    /// `None` if its time is guessed.
    at: Option<Instant>,
    /// The thread's processor time then; `None` if it is guessed.
    busy: Option<Duration>,
}

impl Meter {
    /// An operation begins; `None` where nothing is measured.
    pub fn start(&mut self) -> Option<Start> {
        if !self.measures {
            return None;
        }
        if self.operations == 0 {
            self.waits = times_waited();
        }
        let looks = self.skip == 0;
        // The first operations warm caches up: what one of them took says little about the next.
        let times = !self.reported || self.skip.is_multiple_of(TIMED_ONE_IN);
        self.skip = self.skip.saturating_sub(1);
        Some(Start {
            at: times.then(Instant::now),
            busy: looks.then(thread_cpu_time),
        })
    }

    /// It is done, `waited` of its time for the consumer rather than for the system.
    pub fn stop(
        &mut self,
        workers: &Workers,
        start: Option<Start>,
        bytes: u64,
        waited: Duration,
        remaining: impl FnOnce() -> Option<usize>,
    ) {
        let Some(start) = start else { return };
        let elapsed = match start.at {
            Some(at) => at.elapsed().saturating_sub(waited),
            None => self.typical,
        };
        if elapsed >= SHORT {
            self.skip = 0; // The next ones may take as long.
        } else {
            self.typical = elapsed;
        }
        self.operations += 1;
        self.bytes += bytes;
        self.elapsed += elapsed;
        match start.busy {
            Some(before) => {
                let busy = thread_cpu_time().saturating_sub(before);
                self.busy += busy;
                self.part = (busy.as_secs_f64() / elapsed.as_secs_f64().max(1e-9)).min(1.0);
                if elapsed < SHORT {
                    self.skip = ONE_IN - 1;
                }
            }
            // What takes long among short ones has waited for the rest of its time.
            None => self.busy += elapsed.min(SHORT).mul_f64(self.part),
        }
        let enough = if self.reported { REPORT } else { FIRST_REPORT };
        if self.elapsed >= enough {
            self.report(workers, remaining());
        }
    }

    fn report(&mut self, workers: &Workers, remaining: Option<usize>) {
        // Time in which another thread had the processor is no time of waiting: more workers would only take it from each other.
        let was_interrupted = self.busy < self.elapsed / 4 * 3
            && self.waits.is_some()
            && self.waits == times_waited();
        let sample = Sample {
            operations: self.operations,
            bytes: self.bytes,
            elapsed: self.elapsed,
            busy: if was_interrupted {
                self.elapsed
            } else {
                self.busy
            },
        };
        *self = Self {
            measures: true,
            reported: true,
            skip: self.skip,
            part: self.part,
            typical: self.typical,
            ..Self::default()
        };
        workers.record(sample, remaining);
    }
}
