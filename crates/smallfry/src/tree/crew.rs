//! Threads that take jobs from one stack, where a job may put more.
//!
//! The stack keeps a walk deep rather than wide, so that few directories are open at once. The
//! number of threads follows from measuring the operations, as for a batch.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use smallfry_workers::{Control, Meter, Strategy, Workers, available_cores};

use crate::path::max_workers;

/// The number of operations after which it is known whether they are slow.
const PROBED: u32 = 16;
/// An operation that takes longer is slow: a disk or a server takes part in it. Others wait for locks
/// of the file system at most, and more threads than processors only wait for each other. On XFS 34
/// threads removed a tree at 0.76x of the speed of `rm`, and two at 1.14x.
const SLOW: Duration = Duration::from_micros(200);

/// What is done for a job.
pub(super) trait Work: Sync {
    type Job: Send;
    /// Memory that a thread keeps from one job to the next.
    type Scratch: Default;

    fn run(&self, job: Self::Job, worker: &mut Worker<'_, '_, Self>)
    where
        Self: Sized;
}

/// Runs `first` and all jobs that come of it. The calling thread is one of the threads. They find
/// out themselves that `control` has cancelled.
pub(super) fn run<W: Work>(work: &W, strategy: Strategy, control: Option<&Control>, first: W::Job) {
    let crew = Crew {
        work,
        workers: Workers::new(strategy, max_workers()),
        control: control.cloned().unwrap_or_default(),
        is_counted: control.is_some(),
        state: Mutex::new(State {
            jobs: vec![first],
            busy: 0,
        }),
        wake: Condvar::new(),
        threads: AtomicUsize::new(1),
        idle: AtomicUsize::new(0),
        probe: Probe::new(strategy),
    };
    thread::scope(|scope| crew.work_off(scope, true));
}

/// The threads and the jobs that wait for them.
struct Crew<'w, W: Work> {
    work: &'w W,
    workers: Workers,
    control: Control,
    /// Somebody may ask for the progress.
    is_counted: bool,
    state: Mutex<State<W::Job>>,
    wake: Condvar,
    threads: AtomicUsize,
    /// The number of threads that wait for a job.
    idle: AtomicUsize,
    probe: Probe,
}

/// Finds out whether operations are slow.
struct Probe {
    operations: AtomicU32,
    slow: AtomicU32,
    /// The maximum number of threads.
    limit: AtomicUsize,
}

impl Probe {
    fn new(strategy: Strategy) -> Self {
        let is_measured = matches!(strategy, Strategy::Auto);
        Self {
            operations: AtomicU32::new(if is_measured { 0 } else { PROBED }),
            slow: AtomicU32::new(0),
            limit: AtomicUsize::new(if is_measured {
                available_cores().get()
            } else {
                usize::MAX
            }),
        }
    }

    fn is_over(&self) -> bool {
        self.operations.load(Ordering::Relaxed) >= PROBED
    }

    /// Counts an operation.
    fn add(&self, elapsed: Duration) {
        if elapsed > SLOW {
            self.slow.fetch_add(1, Ordering::Relaxed);
        }
        let is_last = self.operations.fetch_add(1, Ordering::Relaxed) + 1 == PROBED;
        if is_last && self.slow.load(Ordering::Relaxed) > PROBED / 2 {
            self.limit.store(usize::MAX, Ordering::Relaxed);
        }
    }
}

struct State<J> {
    jobs: Vec<J>,
    /// The number of threads that run a job, which may put more.
    busy: usize,
}

/// A thread of a crew, as a job sees it.
pub(super) struct Worker<'s, 'w, W: Work> {
    crew: &'s Crew<'w, W>,
    /// Starts another thread.
    call_another: &'s dyn Fn(),
    meter: Meter,
    pub(super) scratch: W::Scratch,
}

impl<W: Work> Worker<'_, '_, W> {
    /// Puts a job on the stack.
    pub(super) fn put(&self, job: W::Job) {
        self.crew.lock().jobs.push(job);
        if self.crew.idle.load(Ordering::Relaxed) > 0 {
            self.crew.wake.notify_one();
        }
    }

    /// Tells whether other threads have nothing to do. Starts one that is wanted.
    pub(super) fn has_idle(&self) -> bool {
        if self.crew.threads.load(Ordering::Relaxed) < self.crew.wanted() {
            (self.call_another)();
            return true;
        }
        self.crew.idle.load(Ordering::Relaxed) > 0
    }

    /// Tells whether nothing more is to be begun.
    pub(super) fn is_cancelled(&self) -> bool {
        self.crew.control.is_cancelled()
    }

    /// Does an operation, which is measured and counted. It returns its result and the bytes that it
    /// moved.
    pub(super) fn measured<T, E>(
        &mut self,
        operation: impl FnOnce(&mut W::Scratch) -> (Result<T, E>, u64),
    ) -> Result<T, E> {
        let probed = (!self.crew.probe.is_over()).then(Instant::now);
        let start = self.meter.start();
        let (result, bytes) = operation(&mut self.scratch);
        let Self { crew, meter, .. } = self;
        if let Some(began) = probed {
            crew.probe.add(began.elapsed());
        }
        meter.stop(&crew.workers, start, bytes, Duration::ZERO, || None);
        if crew.is_counted {
            crew.control.count(result.is_err(), bytes);
        }
        result
    }
}

impl<W: Work> Crew<'_, W> {
    fn lock(&self) -> MutexGuard<'_, State<W::Job>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many threads there should be.
    fn wanted(&self) -> usize {
        let limit = self.probe.limit.load(Ordering::Relaxed);
        self.workers.wanted().min(limit)
    }

    /// Runs jobs until none are left, or until there are too many threads.
    fn work_off<'s>(&'s self, scope: &'s Scope<'s, '_>, is_first: bool) {
        let call_another = || self.call_another(scope);
        let mut worker = Worker {
            crew: self,
            call_another: &call_another,
            meter: self.workers.meter(),
            scratch: W::Scratch::default(),
        };
        while let Some(job) = self.take(is_first) {
            let _busy = Busy(self);
            self.work.run(job, &mut worker);
            worker.has_idle();
        }
    }

    /// Starts another thread, if one is wanted.
    fn call_another<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        if self.threads.fetch_add(1, Ordering::Relaxed) < self.wanted() {
            let thread = thread::Builder::new().name("smallfry".into());
            let started = thread.spawn_scoped(scope, move || self.work_off(scope, false));
            if started.is_ok() {
                return;
            }
        }
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a job, and waits for one while others run. `None` if the thread is to end.
    fn take(&self, is_first: bool) -> Option<W::Job> {
        let mut state = self.lock();
        loop {
            if !is_first && self.threads.load(Ordering::Relaxed) > self.wanted() {
                self.threads.fetch_sub(1, Ordering::Relaxed);
                // This thread may have been the last one awake, or woken for a job.
                if !state.jobs.is_empty() {
                    self.wake.notify_one();
                }
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                self.wake.notify_all();
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Counts a thread that runs a job, until the job ends or panics.
struct Busy<'c, 'w, W: Work>(&'c Crew<'w, W>);

impl<W: Work> Drop for Busy<'_, '_, W> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy -= 1;
        if state.busy == 0 && state.jobs.is_empty() {
            self.0.wake.notify_all();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Nothing;

    impl Work for Nothing {
        type Job = u32;
        type Scratch = ();

        fn run(&self, _: u32, _: &mut Worker<'_, '_, Self>) {}
    }

    #[test]
    fn a_thread_that_leaves_wakes_another_for_the_jobs_that_are_left() {
        let (send, taken) = mpsc::channel();
        thread::spawn(move || {
            let crew = Crew {
                work: &Nothing,
                workers: Workers::new(Strategy::CallingThread, 1),
                control: Control::new(),
                is_counted: false,
                state: Mutex::new(State {
                    jobs: Vec::new(),
                    busy: 1,
                }),
                wake: Condvar::new(),
                threads: AtomicUsize::new(2),
                idle: AtomicUsize::new(0),
                probe: Probe::new(Strategy::CallingThread),
            };
            thread::scope(|scope| {
                scope.spawn(|| send.send(crew.take(true)).unwrap());
                while crew.idle.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                // The second thread has put a job and is done, and is one too many.
                let mut state = crew.lock();
                state.jobs.push(7);
                state.busy = 0;
                drop(state);
                assert_eq!(crew.take(false), None);
            });
        });
        assert_eq!(taken.recv_timeout(Duration::from_secs(60)), Ok(Some(7)));
    }
}
