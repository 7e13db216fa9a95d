//! The queues of a closer and the workers that serve them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use smallfry_workers::sync::{Mutex, MutexGuard, PoisonError};

use super::backends::{Backend, Job, Serve, spawn_thread};
use super::guard::catch;
use super::pending::Pending;
use super::queue::{End, Generation, Pushed, Queue};
use super::records::Records;
use crate::sys;

/// The maximum number of pending closes of the process, if its descriptor limit allows that many.
const MAX_PENDING: usize = 384;
/// The time that a thread of the closer waits for an item before it ends.
const MAX_IDLE: Duration = Duration::from_secs(1);
/// The number of files that a job closes before it gives its place in a shared pool to others.
const SLICE: usize = 32;

/// The part of a closer that its workers share.
pub(super) struct Shared {
    backend: Mutex<Backend>,
    /// Files that need only be closed, on threads of any backend.
    pub(super) plain: Queue<Pending>,
    /// Files that hold bytes back. Writing these may need threads of the backend, which may all be
    /// closing files, so this queue has threads of its own.
    pub(super) holding: Queue<Pending>,
    /// The process is ending, so nothing would be closed later.
    pub(super) is_over: AtomicBool,
    pub(super) records: Arc<Records>,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug)]
enum Line {
    Plain,
    Holding,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            backend: Mutex::new(Backend::default()),
            plain: Queue::new(),
            holding: Queue::new(),
            is_over: AtomicBool::new(false),
            records: Arc::default(),
        }
    }

    /// Locks the backend, for a process that is about to fork.
    pub(super) fn lock_backend(&self) -> MutexGuard<'_, Backend> {
        self.backend.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_backend(self: &Arc<Self>, backend: Backend) {
        let before = std::mem::replace(&mut *self.lock_backend(), backend);
        drop(before); // Without the lock, since a custom backend may own anything.
        if let Some(generation) = self.plain.next_generation() {
            self.start_worker(generation);
        }
    }

    /// Queues a handle and starts a worker if that is needed. Returns the handle if the queue is
    /// full.
    pub(super) fn push(self: &Arc<Self>, pending: Pending) -> Result<(), Pending> {
        let (line, other) = if pending.handle.has_more() {
            (Line::Holding, Line::Plain)
        } else {
            (Line::Plain, Line::Holding)
        };
        let room = max_pending().saturating_sub(self.queue(other).pending());
        match self.queue(line).push(pending, room) {
            Pushed::Queued { needs_worker } => {
                match (needs_worker, line) {
                    (None, _) => {}
                    (Some(generation), Line::Plain) => self.start_worker(generation),
                    (Some(generation), Line::Holding) => self.start_thread(line, generation),
                }
                Ok(())
            }
            Pushed::Full(pending) => Err(pending),
        }
    }

    fn queue(&self, line: Line) -> &Queue<Pending> {
        match line {
            Line::Plain => &self.plain,
            Line::Holding => &self.holding,
        }
    }

    /// Returns the number of pending closes.
    pub(super) fn pending(&self) -> usize {
        self.plain.pending() + self.holding.pending()
    }

    /// Waits until all is closed that is pending now. Returns false at `deadline`.
    pub(super) fn wait(&self, deadline: Option<Duration>) -> bool {
        // The other queue has threads of its own, which go on meanwhile.
        self.plain.wait(deadline) & self.holding.wait(deadline)
    }

    /// Waits until no file with that key is pending.
    pub(super) fn wait_for(&self, key: u64) {
        self.plain.wait_for(key);
        self.holding.wait_for(key);
    }

    /// Closes one file that waits. Returns false if none waits.
    pub(super) fn close_one(&self) -> bool {
        self.plain.close_one() || self.holding.close_one()
    }

    fn start_worker(self: &Arc<Self>, generation: Generation) {
        let backend = self.lock_backend().clone();
        let job = Job::new(Arc::clone(self) as Arc<dyn Serve>, generation);
        // A pool that cannot be made may panic. The job is dropped then, and a thread replaces it.
        catch(|| backend.spawn(job));
    }

    /// Starts a thread of the closer, which needs no pool.
    fn start_thread(self: &Arc<Self>, line: Line, generation: Generation) {
        let shared = Arc::clone(self);
        let serve = move || {
            shared.queue(line).work(generation, usize::MAX, MAX_IDLE);
        };
        if spawn_thread(serve).is_err() && self.queue(line).lose_worker(generation) {
            // The system has no thread to give, so this thread closes what waits.
            while self.queue(line).close_one() {}
        }
    }
}

impl Serve for Shared {
    fn run_slice(self: Arc<Self>, generation: Generation) {
        if self.plain.work(generation, SLICE, Duration::ZERO) == End::Paused {
            self.start_worker(generation);
        }
    }

    fn run_on_own_thread(self: Arc<Self>, generation: Generation) {
        self.start_thread(Line::Plain, generation);
    }

    fn lose_job(self: Arc<Self>, generation: Generation) {
        if self.plain.lose_worker(generation) {
            let generation = self.plain.force_worker();
            self.start_thread(Line::Plain, generation);
        }
    }
}

/// Returns how many closes may be pending: a part of the descriptor limit.
fn max_pending() -> usize {
    MAX_PENDING.min(sys::descriptor_limit() / 4)
}
