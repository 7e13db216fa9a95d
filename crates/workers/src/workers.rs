//! The number of workers: how many there are and how many there should be.

use std::sync::atomic::AtomicUsize as ProcessWide;
use std::time::Duration;

use crate::controller::{Controller, Limits, Sample};
use crate::options::Strategy;
use crate::sync::{AtomicBool, AtomicUsize, Instant, Mutex, Ordering, PoisonError};
use crate::sys::available_cores;

/// The maximum number of workers of an [`Auto`](Strategy::Auto) batch, and of all such batches of
/// the process together.
pub const MAX_WORKERS: usize = 64;

/// The maximum number of workers of an [`Auto`](Strategy::Auto) batch whose operations are
/// [requests](crate::Task::is_request), and of all such batches of the process together.
pub const MAX_REQUESTS: usize = 256;

/// The number of `Auto` worker threads in the whole process.
static PROCESS_WORKERS: ProcessWide = ProcessWide::new(0);

/// The number of workers of one batch, or of another queue of operations.
///
/// A queue with threads of its own makes one `Workers`, gives each thread a
/// [`Meter`](crate::Meter), and starts or ends threads until [`wanted`](Self::wanted) are there.
///
/// ```
/// use smallfry_workers::{Strategy, Workers};
/// use std::time::Duration;
///
/// let workers = Workers::new(Strategy::Auto, 16);
/// let mut meter = workers.meter();
/// for _ in 0..3 {
///     let start = meter.start();
///     std::thread::sleep(Duration::from_millis(1)); // An operation.
///     meter.stop(&workers, start, 0, Duration::ZERO, || Some(1000));
/// }
/// // Operations that wait are worth more threads.
/// assert!(workers.wanted() > 1);
/// ```
pub struct Workers {
    /// `None` if the caller named a number.
    controller: Option<Mutex<Controller>>,
    began: Instant,
    /// The maximum that the caller has set.
    max: usize,
    wanted: AtomicUsize,
    active: AtomicUsize,
    /// Their operations are requests to a server.
    request: AtomicBool,
}

impl Workers {
    /// Makes the count for a queue without workers yet. There will be at most `max_workers`.
    pub fn new(strategy: Strategy, max_workers: usize) -> Self {
        let (wanted, controller) = match strategy {
            Strategy::CallingThread => (1, None),
            Strategy::Threads(count) => (count.get().min(max_workers), None),
            Strategy::Auto => {
                let controller = Controller::new(Limits {
                    cores: available_cores().get(),
                    max_workers: MAX_WORKERS.min(max_workers),
                });
                let wanted = controller.workers();
                (wanted, Some(Mutex::new(controller)))
            }
        };
        Self {
            controller,
            began: Instant::now(),
            max: max_workers,
            wanted: AtomicUsize::new(wanted),
            active: AtomicUsize::new(0),
            request: AtomicBool::new(false),
        }
    }

    /// Returns how many workers there should be.
    pub fn wanted(&self) -> usize {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Returns true if the number follows from measuring.
    pub fn is_measured(&self) -> bool {
        self.controller.is_some()
    }

    /// Returns how many workers there are.
    pub(crate) fn active(&self) -> usize {
        self.active.load(Ordering::Acquire)
    }

    /// Counts one more worker thread, if one is wanted and the process may have one. A thread that
    /// got true must [`leave`](Self::leave) in the end.
    pub(crate) fn join(&self) -> bool {
        let join = |active: usize| (active < self.wanted()).then_some(active + 1);
        let joined = self
            .active
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, join);
        if joined.is_err() {
            return false;
        }
        if self.enter_process() >= self.max_of_process() {
            self.leave();
            return false;
        }
        true
    }

    /// Counts the first worker thread, whatever the number of others in the process.
    pub(crate) fn force_join(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
        self.enter_process();
    }

    /// Counts a worker thread of the process, and returns how many there were. Only workers of
    /// `Auto` count.
    fn enter_process(&self) -> usize {
        match self.controller {
            Some(_) => PROCESS_WORKERS.fetch_add(1, Ordering::Relaxed),
            None => 0,
        }
    }

    /// Returns the number of worker threads that the process may have when another one of these is
    /// started.
    fn max_of_process(&self) -> usize {
        if self.request.load(Ordering::Relaxed) {
            MAX_REQUESTS
        } else {
            MAX_WORKERS
        }
    }

    fn leave_process(&self) {
        if self.controller.is_some() {
            PROCESS_WORKERS.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts the consumer's own thread as a worker.
    pub(crate) fn join_as_consumer(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// Stops counting the consumer's own thread.
    pub(crate) fn leave_as_consumer(&self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns true if there is one worker and no more are wanted.
    pub(crate) fn is_one(&self) -> bool {
        self.wanted() == 1 && self.active() == 1
    }

    /// Stops counting a worker thread.
    pub(crate) fn leave(&self) {
        self.leave_process();
        self.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// Stops counting a worker thread if there are more than wanted. The thread must end if this is
    /// true.
    pub(crate) fn leave_if_unwanted(&self) -> bool {
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

    /// Wants this many workers, as a controller would.
    #[cfg(all(test, loom))]
    pub(crate) fn want(&self, workers: usize) {
        self.wanted.store(workers, Ordering::Relaxed);
    }

    /// Allows for as many workers as requests to a server are worth.
    pub(crate) fn are_for_requests(&self) {
        if self.controller.is_some() && !self.request.swap(true, Ordering::Relaxed) {
            self.control(|controller, _| controller.are_for_requests(MAX_REQUESTS.min(self.max)));
        }
    }

    /// Has fewer workers, because the server asks for it.
    pub(crate) fn slow_down(&self) {
        self.control(Controller::slow_down);
    }

    /// Passes a report to the controller. `remaining` is the number of inputs left, if known.
    pub(crate) fn record(&self, sample: Sample, remaining: Option<usize>) {
        self.control(|controller, now| controller.record(now, sample, remaining));
    }

    /// Calls the controller, if there is one, with the time since the beginning. It returns the
    /// number of workers.
    fn control(&self, call: impl FnOnce(&mut Controller, Duration) -> usize) {
        let Some(controller) = &self.controller else {
            return;
        };
        let mut controller = controller.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = call(&mut controller, self.began.elapsed());
        self.wanted.store(wanted, Ordering::Relaxed);
    }
}
