//! Memory that the next reads are likely to need.
//!
//! A program that reads many files again and again drops the results of one call while it makes the
//! next. If each mapping went back to the system at once, the system would clear every page anew,
//! which takes longer than reading a cached file into it. So unused mappings stay here for a
//! moment, and pages that are unused in a mapping stay in it. A thread, the keeper, gives back what
//! nobody needed for [`PERIOD`]. It ends when nothing is left here.
//!
//! The child of a `fork` has no keeper, and may not start one. It gives the spare mappings back at
//! once, and keeps none.

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use smallfry_workers::{may_start_threads, start_thread};

use crate::sys::{self, HUGE_PAGE, Mapping};

/// The size of the mappings here, in bytes.
pub(super) const CHUNK: usize = HUGE_PAGE;
/// The maximum number of unused mappings, which is 128 MiB.
const MAX_SPARE: usize = (128 << 20) / CHUNK;
/// The maximum number of mappings whose unused pages have not gone back, which is 32 MiB. The last
/// slots of a mapping are usually dropped soon after the others.
const MAX_SPARSE: usize = (32 << 20) / CHUNK;
/// Memory goes back to the system when nobody needed it for one to two of these.
const PERIOD: Duration = Duration::from_millis(500);

/// Memory of which only a small part is in use.
pub(super) trait Sparse: Send + Sync {
    /// Gives the unused pages back to the system, now and whenever there are more.
    fn sweep(&self);
}

struct Pool {
    spare: Vec<Mapping>,
    /// The smallest number of spare mappings since the keeper looked.
    unneeded: usize,
    sparse: VecDeque<Weak<dyn Sparse>>,
    /// The number of sparse ones that were here when the keeper looked.
    old: usize,
    /// The keeper runs.
    has_keeper: bool,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    spare: Vec::new(),
    unneeded: 0,
    sparse: VecDeque::new(),
    old: 0,
    has_keeper: false,
});

/// Locks the pool. `None` until a `fork` is prepared for: in its child, the lock might be held by a
/// thread that does not exist there.
fn lock() -> Option<MutexGuard<'static, Pool>> {
    can_fork().then(lock_at_any_time)
}

fn lock_at_any_time() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a mapping that was in use a moment ago.
pub(super) fn take() -> Option<Mapping> {
    let mut pool = lock()?;
    let mapping = pool.spare.pop();
    pool.unneeded = pool.unneeded.min(pool.spare.len());
    mapping
}

/// Keeps an unused mapping for the next reads, or gives it back if there are enough.
pub(super) fn keep(mapping: Mapping) {
    if let Some(mut pool) = lock()
        && pool.spare.len() < MAX_SPARE
        && pool.is_kept()
    {
        pool.spare.push(mapping);
    }
}

/// Sweeps `sparse` unless it is dropped soon.
pub(super) fn sweep_later(sparse: Weak<dyn Sparse>) {
    let Some(mut pool) = lock() else {
        return sweep([sparse]);
    };
    let due = if pool.is_kept() {
        pool.sparse.push_back(sparse);
        let due = if pool.sparse.len() > MAX_SPARSE {
            pool.sparse.pop_front()
        } else {
            None
        };
        pool.old -= usize::from(due.is_some() && pool.old > 0);
        due
    } else {
        Some(sparse)
    };
    drop(pool);
    sweep(due);
}

/// Gives all spare mappings back, because memory is needed. Returns false if there was none.
pub(super) fn clear() -> bool {
    let spare = lock().map(|mut pool| std::mem::take(&mut pool.spare));
    spare.is_some_and(|spare| !spare.is_empty())
}

fn sweep(sparse: impl IntoIterator<Item = Weak<dyn Sparse>>) {
    for sparse in sparse {
        if let Some(sparse) = sparse.upgrade() {
            sparse.sweep();
        }
    }
}

impl Pool {
    /// Makes sure that there is a keeper. False if the system has no thread for it.
    fn is_kept(&mut self) -> bool {
        if !self.has_keeper {
            self.has_keeper = start_thread("smallfry memory", keeper).is_ok();
        }
        self.has_keeper
    }
}

/// The body of the keeper.
fn keeper() {
    let mut goes_on = true;
    while goes_on {
        std::thread::sleep(PERIOD);
        let mut pool = lock_at_any_time();
        let unneeded = pool.unneeded.min(pool.spare.len());
        // The oldest ones, whose contents have left the processor's cache.
        let unneeded: Vec<Mapping> = pool.spare.drain(..unneeded).collect();
        pool.unneeded = pool.spare.len();
        let old = pool.old;
        let sparse: Vec<_> = pool.sparse.drain(..old).collect();
        pool.old = pool.sparse.len();
        goes_on = pool.unneeded + pool.old > 0;
        pool.has_keeper = goes_on;
        drop(pool);
        drop(unneeded);
        sweep(sparse);
    }
}

/// Prepares for a `fork`. Returns false while another thread does that, for which no thread waits:
/// in the child of a `fork` at that moment, it would wait for ever.
fn can_fork() -> bool {
    static IS_BEGUN: AtomicBool = AtomicBool::new(false);
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if !IS_DONE.load(Ordering::Acquire) && !IS_BEGUN.swap(true, Ordering::Relaxed) {
        // From now on children start none.
        may_start_threads();
        sys::at_fork(&sys::ForkHandlers {
            before: lock_for_fork,
            in_parent: unlock_in_parent,
            in_child: reset_in_child,
        });
        IS_DONE.store(true, Ordering::Release);
    }
    IS_DONE.load(Ordering::Acquire)
}

thread_local! {
    /// The lock during a `fork`. It has no destructor, so that it can be used as long as the thread
    /// lives.
    static HELD: Cell<Option<ManuallyDrop<MutexGuard<'static, Pool>>>> = const { Cell::new(None) };
}

extern "C" fn lock_for_fork() {
    HELD.set(Some(ManuallyDrop::new(lock_at_any_time())));
}

extern "C" fn unlock_in_parent() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn reset_in_child() {
    if let Some(mut pool) = HELD.take().map(ManuallyDrop::into_inner) {
        pool.has_keeper = false;
        // No keeper would give them back in a child that reads nothing.
        pool.spare.clear();
    }
}
