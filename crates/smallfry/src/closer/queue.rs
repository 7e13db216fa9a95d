//! A bounded queue of handles to close, and the workers that close them.
//!
//! It knows neither files nor errors, so that loom can explore it with smaller items
//! (`queue/model.rs`).

use std::collections::VecDeque;
use std::time::Duration;

use super::pool::Pool;
use smallfry_workers::sync::{
    AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, PoisonError,
};

#[cfg(all(test, loom))]
mod model;

/// An item that is closed once.
pub(super) trait Item: Send {
    /// Returns a key that handles of one file share; `None` if the file is not known.
    fn key(&self) -> Option<u64>;

    /// Closes it, on any thread, and reports an error. It does not panic.
    fn close(self);
}

/// A bounded queue.
pub(super) struct Queue<I> {
    state: Mutex<State<I>>,
    /// Workers wait here for items.
    work: Condvar,
    /// Threads wait here for items to be closed.
    closed: Condvar,
    /// The number of items that wait or are being closed, readable without the lock.
    pending: AtomicUsize,
    began: Instant,
}

pub(super) struct State<I> {
    /// Items with their numbers, in order.
    items: VecDeque<(u64, I)>,
    /// The number of the next one.
    pushed: u64,
    /// The numbers and keys of the items that are being closed.
    closing: Vec<(u64, Option<u64>)>,
    /// The workers of this generation that run or were asked for.
    workers: usize,
    generation: Generation,
    /// The workers that wait for items.
    idle: usize,
    /// The number of threads that wait for items to be closed.
    waiters: usize,
    pool: Pool,
}

/// The number of a worker generation: all workers that one backend has started.
///
/// Workers of an earlier generation exit after their item and are not counted any more.
pub(super) type Generation = u64;

/// The outcome of pushing an item.
pub(super) enum Pushed<I> {
    /// The queue is full.
    Full(I),
    /// It will be closed. The caller starts a worker of the given generation, which is counted
    /// already.
    Queued { needs_worker: Option<Generation> },
}

/// The reason why a worker has stopped.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// There was nothing left to do. It is not counted any more.
    Left,
    /// It has closed its share. It is still counted.
    Paused,
}

impl<I: Item> State<I> {
    fn pending(&self) -> usize {
        self.items.len() + self.closing.len()
    }

    /// Returns the number of the oldest item that is not closed.
    fn oldest(&self) -> u64 {
        let waiting = self
            .items
            .front()
            .map_or(self.pushed, |(number, _)| *number);
        self.closing.iter().fold(waiting, |a, &(b, _)| a.min(b))
    }

    /// Takes the item at that index to close it.
    fn take(&mut self, index: usize) -> Option<(u64, I)> {
        let (number, item) = self.items.remove(index)?;
        self.closing.push((number, item.key()));
        Some((number, item))
    }

    /// Returns true if an item with a lower number and this key, or without one, is being closed.
    fn is_closing(&self, key: u64, before: u64) -> bool {
        let mut closing = self.closing.iter();
        closing.any(|&(number, other)| number < before && may_be(other, key))
    }
}

/// Returns true if an item with key `other` may be the file of `key`.
fn may_be(other: Option<u64>, key: u64) -> bool {
    other.is_none_or(|other| other == key)
}

impl<I: Item> Queue<I> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                pushed: 0,
                closing: Vec::new(),
                workers: 0,
                generation: 0,
                idle: 0,
                waiters: 0,
                pool: Pool::new(),
            }),
            work: Condvar::new(),
            closed: Condvar::new(),
            pending: AtomicUsize::new(0),
            began: Instant::now(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of items that wait or are being closed.
    pub(super) fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }

    /// Pushes an item if fewer than `max` are pending.
    pub(super) fn push(&self, item: I, max: usize) -> Pushed<I> {
        let mut state = self.lock();
        if state.pending() >= max {
            return Pushed::Full(item);
        }
        let number = state.pushed;
        state.items.push_back((number, item));
        state.pushed += 1;
        self.pending.store(state.pending(), Ordering::Release);
        let needs_worker = state.items.len() > state.idle && state.workers < state.pool.wanted();
        state.workers += usize::from(needs_worker);
        let wakes = !needs_worker && state.idle > 0;
        let generation = state.generation;
        drop(state);
        if wakes {
            self.work.notify_one();
        }
        Pushed::Queued {
            needs_worker: needs_worker.then_some(generation),
        }
    }

    /// Closes up to `max` items on the calling thread, a worker of that generation. Returns early
    /// when no item has come for `max_idle`.
    pub(super) fn work(&self, generation: Generation, max: usize, max_idle: Duration) -> End {
        for _ in 0..max {
            let Some((number, item)) = self.next(generation, max_idle) else {
                return End::Left;
            };
            self.close(number, item);
        }
        End::Paused
    }

    fn next(&self, generation: Generation, max_idle: Duration) -> Option<(u64, I)> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.generation != generation {
                return None;
            }
            if state.workers <= state.pool.wanted()
                && let Some(taken) = state.take(0)
            {
                return Some(taken);
            }
            if waited || max_idle.is_zero() || state.workers > state.pool.wanted() {
                // This happens under the lock, so that the next push sees that this worker is gone.
                // A surplus worker leaves the items to the others.
                state.workers -= 1;
                return None;
            }
            state.idle += 1;
            let (woken, timeout) = self
                .work
                .wait_timeout(state, max_idle)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if state.generation == generation {
                state.idle -= 1;
            }
            waited = timeout.timed_out();
        }
    }

    /// Stops counting a worker that does not come. Returns true if items wait and no worker is
    /// left.
    pub(super) fn lose_worker(&self, generation: Generation) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        state.workers -= 1;
        state.workers == 0 && !state.items.is_empty()
    }

    /// Counts one more worker, however many there are. Returns its generation.
    pub(super) fn force_worker(&self) -> Generation {
        let mut state = self.lock();
        state.workers += 1;
        state.generation
    }

    /// Replaces the worker generation; current workers exit after their item. If items wait, the
    /// caller starts a worker of the returned generation.
    pub(super) fn next_generation(&self) -> Option<Generation> {
        let mut state = self.lock();
        state.generation += 1;
        state.idle = 0;
        state.workers = usize::from(!state.items.is_empty());
        let generation = (state.workers > 0).then_some(state.generation);
        drop(state);
        self.work.notify_all();
        generation
    }

    fn close(&self, number: u64, item: I) {
        item.close();
        let mut state = self.lock();
        state.closing.retain(|&(other, _)| other != number);
        let behind = state.items.len() > state.workers;
        state.pool.record(self.began.elapsed(), behind);
        self.pending.store(state.pending(), Ordering::Release);
        let wakes = state.waiters > 0;
        drop(state);
        if wakes {
            self.closed.notify_all();
        }
    }

    /// Waits until all items are closed that are pending now. Returns false at `deadline`.
    ///
    /// It closes waiting items itself, so it needs no workers: the only thread of a pool may be
    /// this one.
    pub(super) fn wait(&self, deadline: Option<Duration>) -> bool {
        let began = Instant::now();
        let mut state = self.lock();
        let target = state.pushed;
        while state.oldest() < target {
            if let Some((number, item)) = state.take(0) {
                drop(state);
                self.close(number, item);
                state = self.lock();
                continue;
            }
            state.waiters += 1;
            state = match deadline {
                None => self
                    .closed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_sub(began.elapsed());
                    self.closed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
            state.waiters -= 1;
            if deadline.is_some_and(|deadline| began.elapsed() >= deadline) {
                return state.oldest() >= target;
            }
        }
        true
    }

    /// Waits until no item with that key, or without a key, is pending that was pending at the
    /// call.
    pub(super) fn wait_for(&self, key: u64) {
        let mut state = self.lock();
        let before = state.pushed;
        let is_it = |(number, item): &(u64, I)| *number < before && may_be(item.key(), key);
        loop {
            let found = state.items.iter().position(is_it);
            if let Some((number, item)) = found.and_then(|index| state.take(index)) {
                drop(state);
                self.close(number, item);
                state = self.lock();
                continue;
            }
            if !state.is_closing(key, before) {
                return;
            }
            state.waiters += 1;
            state = self
                .closed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiters -= 1;
        }
    }

    /// Closes the oldest item on the calling thread. Returns false if none waits.
    pub(super) fn close_one(&self) -> bool {
        let taken = self.lock().take(0);
        let is_one = taken.is_some();
        if let Some((number, item)) = taken {
            self.close(number, item);
        }
        is_one
    }

    /// Resets the queue in the child of a `fork`, which has no other threads.
    ///
    /// Items that wait stay, except those that `keep` refuses. Items that other threads were
    /// closing are forgotten: their descriptors may be closed and reused.
    pub(super) fn reset_in_child(&self, state: &mut State<I>, keep: impl Fn(&I) -> bool) {
        // Jobs that a pool of the program still has are those of workers that are gone.
        state.generation += 1;
        state.workers = 0;
        state.idle = 0;
        state.waiters = 0;
        state.closing.clear();
        let items = std::mem::take(&mut state.items);
        for (number, item) in items {
            if keep(&item) {
                state.items.push_back((number, item));
            } else {
                std::mem::forget(item);
            }
        }
        self.pending.store(state.pending(), Ordering::Release);
    }
}
