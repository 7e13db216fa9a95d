//! Memory that the next reads are likely to need.
//!
//! A program that reads many files again and again drops the results of one call while it makes the
//! next. If each mapping went back to the system at once, the system would clear every page anew,
//! which takes longer than reading a cached file into it. So unused mappings stay here for a
//! moment, and pages that are unused in a mapping stay in it. A thread, the keeper, gives back what
//! nobody needed for [`PERIOD`]. It ends when nothing is left here.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::sys::{HUGE_PAGE, Mapping};

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

fn lock() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a mapping that was in use a moment ago.
pub(super) fn take() -> Option<Mapping> {
    let mut pool = lock();
    let mapping = pool.spare.pop();
    pool.unneeded = pool.unneeded.min(pool.spare.len());
    mapping
}

/// Keeps an unused mapping for the next reads, or gives it back if there are enough.
pub(super) fn keep(mapping: Mapping) {
    let mut pool = lock();
    if pool.spare.len() < MAX_SPARE && pool.is_kept() {
        pool.spare.push(mapping);
    }
}

/// Sweeps `sparse` unless it is dropped soon.
pub(super) fn sweep_later(sparse: Weak<dyn Sparse>) {
    let mut pool = lock();
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
    let spare = std::mem::take(&mut lock().spare);
    !spare.is_empty()
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
            self.has_keeper = std::thread::Builder::new()
                .name("smallfry-memory".into())
                .stack_size(256 << 10)
                .spawn(keeper)
                .is_ok();
        }
        self.has_keeper
    }
}

/// The body of the keeper.
fn keeper() {
    let mut goes_on = true;
    while goes_on {
        std::thread::sleep(PERIOD);
        let mut pool = lock();
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
