//! The queue of jobs and its threads, one for the whole process.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use smallfry::bulk::{Arena, Strategy, max_workers};
use smallfry_workers::{Meter, Workers, available_cores};

use super::progress::Progress;
use super::task::Task;
use crate::errors::{Failure, Step};
use crate::mailbox::{Finished, Mailbox};
use crate::sys::EIO;

/// The number of threads for a few jobs. Node's own pool has as many by default, so as many slow
/// files make progress at once.
const BASE_THREADS: usize = 4;
/// The number of threads at work while jobs finish quickly. More would compete with the main thread
/// for the cores.
const BUSY_THREADS: usize = 2;
/// The number of jobs in the queue from which on the best number of threads is measured.
const MEASURING_THRESHOLD: usize = 32;
/// The time without a finished job after which another thread may join: the disk is slow, or a pipe
/// waits.
const STALL: Duration = Duration::from_millis(1);
/// The interval at which one waiting thread looks for a stall.
const WATCH_INTERVAL: Duration = Duration::from_millis(4);
/// The number of results for one wake-up of the main thread, which costs more than reading a cached
/// file.
const MAX_RESULTS: usize = 32;
/// The maximum time that a result waits for others.
const MAX_RESULT_WAIT: Duration = Duration::from_micros(200);
/// The time for which one thread without work spins before it sleeps. A program that awaits one
/// call after the other makes its next call within that time. Waking a thread takes 10 to 20 µs, so
/// an awaited call of `stat` takes 17 µs instead of 35.
const SPIN: Duration = Duration::from_micros(50);
/// The number of spins in vain after which only one of so many chances to spin is taken.
const MAX_SPINS_IN_VAIN: u32 = 8;
/// The time without work after which a thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time without work after which a thread beyond [`BASE_THREADS`] ends. A slow disk and many
/// jobs wanted it.
const EXTRA_IDLE_TIMEOUT: Duration = Duration::from_millis(100);

/// The program wants its calls one after the other: it has given Node's own pool a single thread.
/// As in that pool, the environment variable counts as it is at the first call.
static IS_IN_ORDER: LazyLock<bool> = LazyLock::new(|| {
    std::env::var("UV_THREADPOOL_SIZE").is_ok_and(|size| matches!(size.parse(), Ok(0 | 1)))
});

/// Tells whether the program wants its calls one after the other.
#[cfg(target_os = "linux")]
pub(crate) fn is_in_order() -> bool {
    *IS_IN_ORDER
}

/// One call, in the queue or being done.
pub(crate) struct Job {
    pub(crate) id: u32,
    pub(crate) own_scope: bool,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) task: Task,
}

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of threads that run jobs or look for more.
    active: usize,
    /// A waiting thread looks for a stall from time to time.
    watching: bool,
    /// A waiting thread spins: it looks at [`CALLED`] instead of waiting for [`WORK`].
    spinning: bool,
    /// The number of chances to spin since a spin last found a job.
    spins_in_vain: u32,
    /// Measures how many threads are best, while there are many jobs.
    workers: Option<Arc<Workers>>,
    /// The time when a job last made progress.
    progress: Option<Instant>,
    /// Mailboxes with results whose thread went on with the next job and has not woken the
    /// environment yet.
    unaware: Vec<Arc<Mailbox>>,
}

static STATE: Mutex<State> = Mutex::new(State {
    jobs: VecDeque::new(),
    threads: 0,
    active: 0,
    watching: false,
    spinning: false,
    spins_in_vain: 0,
    workers: None,
    progress: None,
    unaware: Vec::new(),
});
static WORK: Condvar = Condvar::new();
/// Tells the thread that spins to stop.
static CALLED: AtomicBool = AtomicBool::new(false);
/// With one processor the thread that spins would keep the main thread from its next call.
static MAY_SPIN: LazyLock<bool> = LazyLock::new(|| available_cores().get() > 1);

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Remembers a mailbox whose environment has to be woken.
    fn remember(&mut self, mailbox: Option<&Arc<Mailbox>>) {
        if let Some(mailbox) = mailbox
            && !self
                .unaware
                .iter()
                .any(|unaware| Arc::ptr_eq(unaware, mailbox))
        {
            self.unaware.push(Arc::clone(mailbox));
        }
    }

    fn stalled(&self) -> bool {
        self.progress.is_none_or(|since| since.elapsed() > STALL)
    }

    /// Delivers the results of threads whose next job takes long.
    fn wake_if_stalled(&mut self) {
        if self.stalled() {
            for mailbox in std::mem::take(&mut self.unaware) {
                mailbox.wake();
            }
        }
    }

    /// Tells whether one more thread should be at work.
    fn wants_thread(&self) -> bool {
        !self.jobs.is_empty()
            && (self.active < self.wanted(BUSY_THREADS)
                || (self.active < self.wanted(BASE_THREADS) && self.stalled()))
    }

    /// Returns the number of threads that was measured to be best, at least `minimum`; 1 if calls
    /// are wanted in order.
    fn wanted(&self, minimum: usize) -> usize {
        if *IS_IN_ORDER {
            return 1;
        }
        let wanted = self.workers.as_ref().map_or(0, |workers| workers.wanted());
        wanted.max(minimum)
    }

    /// Finds a thread that looks for stalls. Returns false if there is none.
    fn is_watched(&mut self) -> bool {
        if self.watching {
            return true;
        }
        let next = self.next_thread();
        if let Next::Waiting = next {
            WORK.notify_one();
        }
        !matches!(next, Next::None)
    }

    /// Finds a thread for more work: one that waits, or a new one.
    fn next_thread(&mut self) -> Next {
        if self.threads > self.active {
            Next::Waiting
        } else if self.threads < self.wanted(BASE_THREADS) && spawn() {
            self.threads += 1;
            Next::Spawned
        } else {
            Next::None
        }
    }
}

enum Next {
    /// The caller notifies `WORK` after it has released the lock, which the thread that wakes up
    /// takes at once.
    Waiting,
    /// A new thread, which begins by itself.
    Spawned,
    None,
}

/// Hands in a job. It starts at once if a thread is free.
pub(crate) fn push(job: Job) {
    if job.task.is_write() {
        job.mailbox.accept_write();
    }
    let mut state = lock();
    state.jobs.push_back(job);
    if state.workers.is_none() && state.jobs.len() >= MEASURING_THRESHOLD {
        state.workers = Some(Arc::new(Workers::new(Strategy::Auto, max_workers())));
    }
    if !state.wants_thread() {
        return;
    }
    match state.next_thread() {
        Next::Waiting if state.spinning => CALLED.store(true, Ordering::Relaxed),
        Next::Waiting => {
            drop(state);
            WORK.notify_one();
        }
        // The system has no thread to give.
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

/// The body of a thread. It waits until it is wanted, and works until nothing is left.
fn work() {
    let mut arena = Arena::default();
    let mut state = lock();
    loop {
        if state.wants_thread() {
            state = work_off(state, &mut arena);
            state = spin(state);
            continue;
        }
        let watch = state.active > 0 && !state.watching;
        state.watching |= watch;
        let max_wait = match watch {
            true => WATCH_INTERVAL,
            false if state.threads > BASE_THREADS => EXTRA_IDLE_TIMEOUT,
            false => IDLE_TIMEOUT,
        };
        let (again, timeout) = WORK
            .wait_timeout(state, max_wait)
            .unwrap_or_else(PoisonError::into_inner);
        state = again;
        if watch {
            state.watching = false;
            state.wake_if_stalled();
        } else if timeout.timed_out() && !state.wants_thread() {
            state.threads -= 1;
            return;
        }
    }
}

/// Spins until a job comes, unless another thread spins or the last spins found nothing.
fn spin(mut state: MutexGuard<'static, State>) -> MutexGuard<'static, State> {
    let spins = state.spins_in_vain;
    let is_in_vain = spins >= MAX_SPINS_IN_VAIN && !spins.is_multiple_of(MAX_SPINS_IN_VAIN);
    if state.spinning || is_in_vain || !state.jobs.is_empty() || !*MAY_SPIN {
        state.spins_in_vain = spins.saturating_add(u32::from(is_in_vain));
        return state;
    }
    state.spinning = true;
    CALLED.store(false, Ordering::Relaxed);
    drop(state);
    let began = Instant::now();
    let mut is_called = false;
    while !is_called && began.elapsed() < SPIN {
        std::hint::spin_loop();
        is_called = CALLED.load(Ordering::Relaxed);
    }
    state = lock();
    state.spinning = false;
    state.spins_in_vain = if state.jobs.is_empty() {
        spins.saturating_add(1)
    } else {
        0
    };
    state
}

/// Does jobs until none are left, a slice of each at a time.
fn work_off(
    mut state: MutexGuard<'static, State>,
    arena: &mut Arena,
) -> MutexGuard<'static, State> {
    // This thread may have been the one that looks for stalls.
    state.wake_if_stalled();
    state.active += 1;
    state.progress = Some(Instant::now());
    // Two calls may have woken this one thread, and the first may wait for a pipe.
    let is_behind = state.jobs.len() > 1 && state.wants_thread();
    let is_unwatched = state.active >= BUSY_THREADS && !state.watching;
    if (is_behind || is_unwatched)
        && let Next::Waiting = state.next_thread()
    {
        WORK.notify_one();
    }
    let mut results = Results::default();
    let mut measured: Option<(Arc<Workers>, Meter)> = None;
    loop {
        let is_one_too_many = state.active > state.wanted(BASE_THREADS);
        let has_results = results.mailbox.is_some() && !state.jobs.is_empty();
        // The next job may take long, and only a watching thread would deliver them meanwhile.
        let must_wake = has_results && !state.is_watched();
        if !is_one_too_many
            && !must_wake
            && let Some(job) = state.jobs.pop_front()
        {
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
            let mailbox = run(job, arena);
            if let Some((workers, meter)) = &mut measured {
                meter.stop(workers, start, 0, Duration::ZERO, || Some(left));
            }
            let now = Instant::now();
            if let Some(mailbox) = mailbox {
                results.put(mailbox, now);
            }
            state = lock();
            state.progress = Some(now);
            state.remember(results.mailbox.as_ref());
            continue;
        }
        if let Some(mailbox) = &results.mailbox {
            state
                .unaware
                .retain(|unaware| !Arc::ptr_eq(unaware, mailbox));
            drop(state);
            results.wake();
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

/// Does one slice of a job. Returns its mailbox if the job is done and the environment has to be
/// woken.
fn run(mut job: Job, arena: &mut Arena) -> Option<Arc<Mailbox>> {
    let progress = catch_unwind(AssertUnwindSafe(|| job.task.step(arena)));
    let result = match progress {
        Ok(Progress::Done(result)) => result,
        Ok(Progress::More) => {
            lock().jobs.push_back(job);
            return None;
        }
        // A panic must not leave the caller waiting for ever.
        Err(_) => Err(Failure::Other(Step::Read, EIO).into()),
    };
    let finished = Finished {
        id: job.id,
        own_scope: job.own_scope,
        is_write: job.task.is_write(),
        result,
    };
    job.mailbox.put(finished).then_some(job.mailbox)
}

/// The results of one thread that the environment has not been woken for.
#[derive(Default)]
struct Results {
    mailbox: Option<Arc<Mailbox>>,
    count: usize,
    first: Option<Instant>,
}

impl Results {
    /// Counts one more result, and wakes the environment if enough results wait or one has waited
    /// long enough.
    fn put(&mut self, mailbox: Arc<Mailbox>, now: Instant) {
        let other = |before: &Arc<Mailbox>| !Arc::ptr_eq(before, &mailbox);
        if self.mailbox.as_ref().is_some_and(other) {
            self.wake();
        }
        self.mailbox = Some(mailbox);
        self.count += 1;
        let first = *self.first.get_or_insert(now);
        if self.count >= MAX_RESULTS || now.duration_since(first) > MAX_RESULT_WAIT {
            self.wake();
        }
    }

    fn wake(&mut self) {
        if let Some(mailbox) = self.mailbox.take() {
            mailbox.wake();
        }
        *self = Self::default();
    }
}

/// Drops the reads of an environment that ends. Its writes stay.
pub(crate) fn forget_reads(mailbox: &Arc<Mailbox>) {
    let mut state = lock();
    state
        .jobs
        .retain(|job| job.task.is_write() || !Arc::ptr_eq(&job.mailbox, mailbox));
}

/// Tells whether a thread may be using a file.
pub(crate) fn is_at_work() -> bool {
    lock().active > 0
}

/// Drops all reads, since the process ends.
pub(crate) fn drop_reads() {
    let mut state = lock();
    state.jobs.retain(|job| job.task.is_write());
}
