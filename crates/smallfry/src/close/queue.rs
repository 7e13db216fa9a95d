//! Handles that wait to be closed, in their order, and the workers that close them.
//!
//! It knows neither files nor errors, so that loom can explore it with something smaller (`queue/model.rs`).

use std::collections::VecDeque;
use std::time::Duration;

use super::pool::Pool;
use crate::sync::{AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, PoisonError};

#[cfg(all(test, loom))]
mod model;

/// Something that is closed once.
pub(super) trait Item: Send {
    /// Equal for handles of one file; `None` if it is not known which file it is.
    fn key(&self) -> Option<u64>;

    /// Closes it, on any thread. Tells whoever wants to know of an error; does not panic.
    fn close(self);
}

/// A bounded queue.
pub(super) struct Queue<I> {
    state: Mutex<State<I>>,
    /// Where workers wait for items.
    work: Condvar,
    /// Where those wait who need something closed.
    closed: Condvar,
    /// Items that wait or are being closed, to be looked at without the lock.
    pending: AtomicUsize,
    began: Instant,
}

pub(super) struct State<I> {
    /// Each with its number, which grows.
    items: VecDeque<(u64, I)>,
    /// The number of the next one.
    pushed: u64,
    /// The numbers and keys of those that are being closed.
    closing: Vec<(u64, Option<u64>)>,
    /// Workers that are at work or have been asked for, of this crew.
    workers: usize,
    /// Those of an earlier crew leave when they notice, and are not counted any more.
    crew: Workers,
    /// Those of them that wait for items.
    idle: usize,
    /// Threads that wait for something to be closed.
    waiters: usize,
    pool: Pool,
}

/// The number of a crew: of the workers that one backend has brought.
pub(super) type Workers = u64;

/// What became of an item that was put into the queue.
pub(super) enum Pushed<I> {
    /// As many are pending as may be.
    Full(I),
    /// It will be closed. The caller is to bring one more worker of that crew, if it is given: its place is counted already.
    Queued { needs_worker: Option<Workers> },
}

/// Why a worker has stopped.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// There was nothing left to do, and its place is given up.
    Left,
    /// It has done as many as it was asked to; the place is still its own.
    Paused,
}

impl<I: Item> State<I> {
    fn pending(&self) -> usize {
        self.items.len() + self.closing.len()
    }

    /// The number of the oldest item that is not closed.
    fn oldest(&self) -> u64 {
        let waiting = self
            .items
            .front()
            .map_or(self.pushed, |(number, _)| *number);
        self.closing.iter().fold(waiting, |a, &(b, _)| a.min(b))
    }

    /// Takes the item in that place to close it.
    fn take(&mut self, index: usize) -> Option<(u64, I)> {
        let (number, item) = self.items.remove(index)?;
        self.closing.push((number, item.key()));
        Some((number, item))
    }

    /// Whether an item before that number is being closed that has that key, or none.
    fn is_closing(&self, key: u64, before: u64) -> bool {
        let mut closing = self.closing.iter();
        closing.any(|&(number, other)| number < before && is_one(other, key))
    }
}

/// Whether something of that key, or of which it is not known, may be what `key` stands for.
fn is_one(other: Option<u64>, key: u64) -> bool {
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
                crew: 0,
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

    /// How many items wait or are being closed.
    pub(super) fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }

    /// Puts an item behind the others if fewer than `most` are pending.
    pub(super) fn push(&self, item: I, most: usize) -> Pushed<I> {
        let mut state = self.lock();
        if state.pending() >= most {
            return Pushed::Full(item);
        }
        let number = state.pushed;
        state.items.push_back((number, item));
        state.pushed += 1;
        self.pending.store(state.pending(), Ordering::Release);
        let needs_worker = state.items.len() > state.idle && state.workers < state.pool.wanted();
        state.workers += usize::from(needs_worker);
        let wakes = !needs_worker && state.idle > 0;
        let crew = state.crew;
        drop(state);
        if wakes {
            self.work.notify_one();
        }
        Pushed::Queued {
            needs_worker: needs_worker.then_some(crew),
        }
    }

    /// Closes items on the calling thread, a worker of that crew: `most` of them at the most, and waits so long for one
    /// before it leaves.
    pub(super) fn work(&self, crew: Workers, most: usize, patience: Duration) -> End {
        for _ in 0..most {
            let Some((number, item)) = self.next(crew, patience) else {
                return End::Left;
            };
            self.close(number, item);
        }
        End::Paused
    }

    fn next(&self, crew: Workers, patience: Duration) -> Option<(u64, I)> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.crew != crew {
                return None;
            }
            if state.workers <= state.pool.wanted()
                && let Some(taken) = state.take(0)
            {
                return Some(taken);
            }
            if waited || patience.is_zero() || state.workers > state.pool.wanted() {
                // Under the lock: whoever pushes next sees that this worker is gone. One that leaves because it is one
                // too many leaves items to the others.
                state.workers -= 1;
                return None;
            }
            state.idle += 1;
            let (woken, timeout) = self
                .work
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if state.crew == crew {
                state.idle -= 1;
            }
            waited = timeout.timed_out();
        }
    }

    /// A worker of that crew that was asked for does not come: its place is free again. True if nobody is left who would
    /// close what waits.
    pub(super) fn lose_worker(&self, crew: Workers) -> bool {
        let mut state = self.lock();
        if state.crew != crew {
            return false;
        }
        state.workers -= 1;
        state.workers == 0 && !state.items.is_empty()
    }

    /// A place for one more worker, however many there are; of this crew.
    pub(super) fn force_worker(&self) -> Workers {
        let mut state = self.lock();
        state.workers += 1;
        state.crew
    }

    /// Others will work here: those who do leave after the item that they have, and those who never came are not waited
    /// for. If something waits, the caller is to bring a first worker of the crew that is answered.
    pub(super) fn change_crew(&self) -> Option<Workers> {
        let mut state = self.lock();
        state.crew += 1;
        state.idle = 0;
        state.workers = usize::from(!state.items.is_empty());
        let crew = (state.workers > 0).then_some(state.crew);
        drop(state);
        self.work.notify_all();
        crew
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

    /// Returns when all is closed that was pending when it was called, or false at `deadline`. It closes what waits
    /// itself: neither a lack of workers nor workers that cannot come, because this thread is the one they wait for, hold
    /// it up.
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

    /// Returns when nothing of that key is pending that was when it was called, nor anything without a key.
    pub(super) fn settle(&self, key: u64) {
        let mut state = self.lock();
        let before = state.pushed;
        let is_it = |(number, item): &(u64, I)| *number < before && is_one(item.key(), key);
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

    /// Closes the oldest item on the calling thread; false if none waits.
    pub(super) fn close_one(&self) -> bool {
        let taken = self.lock().take(0);
        let is_one = taken.is_some();
        if let Some((number, item)) = taken {
            self.close(number, item);
        }
        is_one
    }

    /// A new process, a copy of one with threads, has none of them: what they were closing is not closed here, where
    /// nobody knows whether those numbers are still theirs; what waits stays, without what `keep` refuses.
    pub(super) fn begin_anew(&self, state: &mut State<I>, keep: impl Fn(&I) -> bool) {
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
