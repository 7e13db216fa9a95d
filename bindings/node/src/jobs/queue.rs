//! One queue and its threads, for the whole process.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use smallfry::bulk::{Arena, Strategy, max_workers};
use smallfry_workers::{Meter, Workers};

use super::client::{Client, Finished};
use super::exit::accept_write;
use super::task::{Progress, Task};
use crate::outcome::{Failure, Step};
use crate::sys::EIO;

/// Threads that a few jobs get: as many as Node's own pool has by default, so that as many slow files make progress at
/// once.
const THREADS: usize = 4;
/// Threads at work while they make progress. More would fight the main thread for the cores.
const BUSY: usize = 2;
/// Jobs that wait at once from which on it is measured how many threads are best.
const MANY: usize = 32;
/// No job finished for this long: the disk is slow or a pipe waits, and another thread may join.
const STALL: Duration = Duration::from_millis(1);
/// How often a waiting thread looks for a stall while others work.
const WATCH: Duration = Duration::from_millis(4);
/// Results that wait to be handed over together, since every wake-up of the main thread costs more than a cached file.
const TOGETHER: usize = 32;
/// How long they may wait for others.
const TOGETHER_FOR: Duration = Duration::from_micros(200);
/// A thread without work ends after this.
const LINGER: Duration = Duration::from_secs(10);
/// One beyond [`THREADS`] after this: it came for a slow disk and many jobs.
const EXTRA_LINGER: Duration = Duration::from_millis(100);

/// One call on its way.
pub(crate) struct Job {
    pub(crate) id: u32,
    pub(crate) alone: bool,
    pub(crate) client: Arc<Client>,
    pub(crate) task: Task,
}

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Threads that run jobs or look for more.
    active: usize,
    /// A waiting thread wakes up by itself to look for a stall.
    watching: bool,
    /// Finds out how many threads are best, while there are many jobs.
    workers: Option<Arc<Workers>>,
    /// When a job last made progress.
    progress: Option<Instant>,
    /// Have results that they were not yet woken for, since the thread that put them there went on with the next job.
    unaware: Vec<Arc<Client>>,
}

static STATE: Mutex<State> = Mutex::new(State {
    jobs: VecDeque::new(),
    threads: 0,
    active: 0,
    watching: false,
    workers: None,
    progress: None,
    unaware: Vec::new(),
});
static WORK: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn remember(&mut self, client: Option<&Arc<Client>>) {
        if let Some(client) = client
            && !self
                .unaware
                .iter()
                .any(|unaware| Arc::ptr_eq(unaware, client))
        {
            self.unaware.push(Arc::clone(client));
        }
    }

    fn stalled(&self) -> bool {
        self.progress.is_none_or(|since| since.elapsed() > STALL)
    }

    /// Whether one more thread should be at work.
    fn wants_thread(&self) -> bool {
        !self.jobs.is_empty()
            && (self.active < self.wanted(BUSY) || (self.active < THREADS && self.stalled()))
    }

    /// What measuring says, or `least` if that is more.
    fn wanted(&self, least: usize) -> usize {
        let wanted = self.workers.as_ref().map_or(0, |workers| workers.wanted());
        wanted.max(least)
    }

    /// Who should be asked to work, of the waiting threads or a new one.
    fn next_thread(&mut self) -> Next {
        if self.threads > self.active {
            Next::Waiting
        } else if self.threads < self.wanted(THREADS) && spawn() {
            self.threads += 1;
            Next::Spawned
        } else {
            Next::None
        }
    }
}

enum Next {
    /// `WORK` is to be notified, after the lock is released: the thread that wakes up wants it at once.
    Waiting,
    /// It comes by itself.
    Spawned,
    None,
}

/// Hands in a job. It starts at once if a thread is free.
pub(crate) fn push(job: Job) {
    if job.task.is_write() {
        job.client.accept_write();
        accept_write();
    }
    let mut state = lock();
    state.jobs.push_back(job);
    if state.workers.is_none() && state.jobs.len() >= MANY {
        state.workers = Some(Arc::new(Workers::new(Strategy::Auto, max_workers())));
    }
    if !state.wants_thread() {
        return;
    }
    match state.next_thread() {
        Next::Waiting => {
            drop(state);
            WORK.notify_one();
        }
        // No thread can be made: do the work here rather than never.
        Next::None if state.threads == 0 => drop(work_off(state, &mut Arena::default())),
        Next::Spawned | Next::None => {}
    }
}

fn spawn() -> bool {
    std::thread::Builder::new()
        .name("smallfry".into())
        .stack_size(256 << 10)
        .spawn(work)
        .is_ok()
}

/// Body of a thread: waits to be wanted, works until nothing is left.
fn work() {
    let mut arena = Arena::default();
    let mut state = lock();
    loop {
        if state.wants_thread() {
            state = work_off(state, &mut arena);
            continue;
        }
        let watch = state.active > 0 && !state.watching;
        state.watching |= watch;
        let patience = match watch {
            true => WATCH,
            false if state.threads > THREADS => EXTRA_LINGER,
            false => LINGER,
        };
        let (again, timeout) = WORK
            .wait_timeout(state, patience)
            .unwrap_or_else(PoisonError::into_inner);
        state = again;
        if watch {
            state.watching = false;
            // Results must not wait for a job that does not end.
            if state.stalled() {
                for client in std::mem::take(&mut state.unaware) {
                    client.wake();
                }
            }
        } else if timeout.timed_out() && !state.wants_thread() {
            state.threads -= 1;
            return;
        }
    }
}

/// Does jobs until none are left, a slice of each at a time.
fn work_off(
    mut state: MutexGuard<'static, State>,
    arena: &mut Arena,
) -> MutexGuard<'static, State> {
    state.active += 1;
    state.progress = Some(Instant::now());
    if state.active >= BUSY
        && !state.watching
        && let Next::Waiting = state.next_thread()
    {
        WORK.notify_one();
    }
    let mut results = Results::default();
    let mut measured: Option<(Arc<Workers>, Meter)> = None;
    loop {
        let is_one_too_many = state.active > state.wanted(THREADS);
        if !is_one_too_many && let Some(job) = state.jobs.pop_front() {
            let left = state.jobs.len();
            if state.wants_thread()
                && state.workers.is_some()
                && let Next::Waiting = state.next_thread()
            {
                WORK.notify_one();
            }
            if let (Some(workers), None) = (&state.workers, &measured) {
                measured = Some((Arc::clone(workers), workers.meter()));
            }
            drop(state);
            let start = measured.as_mut().and_then(|(_, meter)| meter.start());
            let client = run(job, arena);
            if let Some((workers, meter)) = &mut measured {
                meter.stop(workers, start, 0, Duration::ZERO, || Some(left));
            }
            let now = Instant::now();
            if let Some(client) = client {
                results.put(client, now);
            }
            state = lock();
            state.progress = Some(now);
            state.remember(results.client.as_ref());
            continue;
        }
        if let Some(client) = &results.client {
            state
                .unaware
                .retain(|unaware| !Arc::ptr_eq(unaware, client));
            drop(state);
            results.hand_over();
            state = lock();
            continue;
        }
        break;
    }
    state.active -= 1;
    if state.active == 0 {
        state.workers = None;
    }
    state
}

/// Does one slice of a job; answers whose result it was, if the job is done and its environment is yet to be woken.
fn run(mut job: Job, arena: &mut Arena) -> Option<Arc<Client>> {
    let progress = catch_unwind(AssertUnwindSafe(|| job.task.step(arena)));
    let result = match progress {
        Ok(Progress::Done(result)) => result,
        Ok(Progress::More) => {
            lock().jobs.push_back(job);
            return None;
        }
        // A bug of ours must not leave the caller waiting for ever.
        Err(_) => Err(Failure::Other(Step::Read, EIO).into()),
    };
    let finished = Finished {
        id: job.id,
        alone: job.alone,
        is_write: job.task.is_write(),
        result,
    };
    job.client.put(finished).then_some(job.client)
}

/// The results that one thread has in mailboxes whose owner is yet to be woken.
#[derive(Default)]
struct Results {
    client: Option<Arc<Client>>,
    count: usize,
    first: Option<Instant>,
}

impl Results {
    /// Counts one more result, and wakes its owner if it is time to.
    fn put(&mut self, client: Arc<Client>, now: Instant) {
        let other = |before: &Arc<Client>| !Arc::ptr_eq(before, &client);
        if self.client.as_ref().is_some_and(other) {
            self.hand_over();
        }
        self.client = Some(client);
        self.count += 1;
        let first = *self.first.get_or_insert(now);
        if self.count >= TOGETHER || now.duration_since(first) > TOGETHER_FOR {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if let Some(client) = self.client.take() {
            client.wake();
        }
        *self = Self::default();
    }
}

/// Drops the reads of an environment that is going away; its writes stay.
pub(crate) fn forget_reads(client: &Arc<Client>) {
    let mut state = lock();
    state
        .jobs
        .retain(|job| job.task.is_write() || !Arc::ptr_eq(&job.client, client));
}

/// Whether a thread may be using a file.
pub(super) fn is_at_work() -> bool {
    lock().active > 0
}

/// Drops all reads: the process is ending.
pub(super) fn drop_reads() {
    let mut state = lock();
    state.jobs.retain(|job| job.task.is_write());
}
