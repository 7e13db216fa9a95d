//! Inputs that wait, results that wait, and the workers in between, behind one lock.
//!
//! A worker is a thread that takes an input, runs the task, and leaves the result. The consumer may
//! be one of the workers: [`Stream`](crate::Stream) is. Then the calling thread alone does all the
//! work as long as that is fastest.
//!
//! Bytes in flight are bounded. A task that knows how much memory its result takes asks for it with
//! [`TaskContext::reserve`](crate::TaskContext::reserve), and waits while too many bytes have not
//! been consumed. The result that the consumer needs next never waits.

use std::any::Any;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::control::Control;
use crate::meter::{Meter, SHORT};
use crate::options::BatchOptions;
use crate::spawn::Spawn;
use crate::sync::{
    Arc, AtomicBool, AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, PoisonError,
};
use crate::sys;
use crate::task::{Owner, Room, Task, TaskContext, Used};
use crate::workers::Workers;

/// The maximum number of inputs that a worker takes at a time while operations are short.
const MAX_CLAIM: usize = 8;

/// One result.
#[derive(Debug)]
pub struct Done<O> {
    /// The number of the input, in the order in which inputs were pushed.
    pub index: usize,
    /// The output of the task.
    pub output: O,
    /// Bytes in flight. The consumer gives them back with [`Batch::release`].
    pub weight: u64,
    /// The key of the input.
    key: Option<u64>,
}

/// A batch: inputs, workers and results.
pub struct Batch<'a, T: Task> {
    task: T,
    spawn: Box<dyn Spawn<'a> + 'a>,
    options: BatchOptions,
    pub(crate) workers: Workers,
    state: Mutex<State<T>>,
    /// Workers wait here for inputs.
    work: Condvar,
    /// Workers wait here until less is in flight.
    room: Condvar,
    /// The consumer waits here for results, and for the last worker to leave.
    ready: Condvar,
    /// The number of inputs that no worker has taken; `usize::MAX` if it is not known.
    remaining: AtomicUsize,
    /// The caller holds the control too, so that it may ask for the progress.
    counted: bool,
    /// Nothing more is begun: the batch was abandoned, or a worker panicked.
    stopped: AtomicBool,
    /// The first input that failed, in a batch that fails fast. Inputs before it are still done, so
    /// that a consumer in order finds this failure first.
    failed: AtomicUsize,
}

struct State<T: Task> {
    inputs: VecDeque<Entry<T::Input>>,
    closed: bool,
    /// The keys of inputs that have begun, each with the inputs that wait for it.
    keys: HashMap<u64, VecDeque<Entry<T::Input>>>,
    /// The number of inputs that wait for another one of their key.
    behind: usize,
    done: VecDeque<Done<T::Output>>,
    /// The number of inputs whose results have not been taken.
    outstanding: usize,
    /// The time of the oldest result that the consumer has not been told of.
    untold: Option<Instant>,
    /// The consumer was told of results and has not taken them yet.
    told: bool,
    consumer_waits: bool,
    /// The number of workers that wait for inputs.
    workers_wait: usize,
    /// The number of workers that wait for room.
    room_waits: usize,
    /// The result that the consumer needs next, if it takes results in order.
    head: Option<usize>,
    in_flight: u64,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T: Task> State<T> {
    /// Queues an input, or puts it behind the one of its key that has begun.
    fn queue(&mut self, entry: Entry<T::Input>) {
        if let Some(key) = entry.key {
            match self.keys.entry(key) {
                Occupied(mut waiting) => {
                    self.behind += 1;
                    return waiting.get_mut().push_back(entry);
                }
                Vacant(place) => drop(place.insert(VecDeque::new())),
            }
        }
        self.inputs.push_back(entry);
    }

    /// Queues the next input of a key whose input is done. Returns true if there is one.
    fn finish(&mut self, key: u64) -> bool {
        let next = self.keys.get_mut(&key).and_then(VecDeque::pop_front);
        let Some(next) = next else {
            self.keys.remove(&key);
            return false;
        };
        self.behind -= 1;
        // The queue stays in order, so that the input that the consumer needs next is its first.
        let before = |entry: &Entry<T::Input>| entry.index < next.index;
        self.inputs
            .insert(self.inputs.partition_point(before), next);
        true
    }

    /// Returns true if no worker will find anything to do any more.
    fn is_over(&self) -> bool {
        self.closed && self.inputs.is_empty() && self.behind == 0
    }

    /// Takes all results.
    fn take(&mut self, into: &mut VecDeque<Done<T::Output>>) {
        self.told = false;
        self.untold = None;
        self.outstanding -= self.done.len();
        into.append(&mut self.done);
    }

    /// Removes all inputs. The caller drops them without the lock.
    fn end(&mut self) -> impl Sized + use<T> {
        let inputs = std::mem::take(&mut self.inputs);
        let behind = std::mem::take(&mut self.keys);
        self.outstanding -= inputs.len() + std::mem::take(&mut self.behind);
        self.closed = true;
        (inputs, behind)
    }
}

/// An input with what the task says of it.
pub(crate) struct Entry<I> {
    index: usize,
    input: I,
    pub(crate) weight: u64,
    key: Option<u64>,
}

/// The answer to a worker that asks for inputs.
enum Claim {
    Taken,
    /// There are no inputs and there will be none.
    End,
    /// There are more workers than wanted, so this one ends. Its place is free already.
    Unwanted,
}

impl<'a, T: Task + 'a> Batch<'a, T> {
    /// Makes a batch without inputs.
    pub fn new(task: T, options: BatchOptions, spawn: impl Spawn<'a> + 'a) -> Arc<Self> {
        Arc::new(Self {
            task,
            spawn: Box::new(spawn),
            workers: Workers::new(options.strategy, options.max_workers),
            counted: options.control.is_shared(),
            options,
            state: Mutex::new(State {
                inputs: VecDeque::new(),
                closed: false,
                keys: HashMap::new(),
                behind: 0,
                done: VecDeque::new(),
                outstanding: 0,
                untold: None,
                told: false,
                consumer_waits: false,
                workers_wait: 0,
                room_waits: 0,
                head: None,
                in_flight: 0,
                panic: None,
            }),
            work: Condvar::new(),
            room: Condvar::new(),
            ready: Condvar::new(),
            remaining: AtomicUsize::new(usize::MAX),
            stopped: AtomicBool::new(false),
            failed: AtomicUsize::new(usize::MAX),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the task.
    pub fn task(&self) -> &T {
        &self.task
    }

    /// Returns the control, which cancels the batch.
    pub fn control(&self) -> &Control {
        &self.options.control
    }

    /// Returns true if no more inputs are wanted.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped_at(usize::MAX)
    }

    /// Adds inputs. `first` is the number of the first one, and `beyond` the number of inputs that
    /// will follow, if that is known.
    pub fn push(
        self: &Arc<Self>,
        first: usize,
        inputs: impl IntoIterator<Item = T::Input>,
        beyond: Option<usize>,
    ) {
        // This is done without the lock, since the task computes weights and keys.
        let entries = (first..).zip(inputs);
        let entries = entries.map(|(index, input)| self.entry(index, input));
        self.push_entries(entries.collect(), beyond);
        // Workers are added already now, since the first operation may be a slow one.
        self.recruit();
    }

    pub(crate) fn push_entries(&self, entries: Vec<Entry<T::Input>>, beyond: Option<usize>) {
        let mut state = self.lock();
        state.outstanding += entries.len();
        for entry in entries {
            state.in_flight += entry.weight;
            state.queue(entry);
        }
        let waiting = state.inputs.len() + state.behind;
        let remaining = beyond.map_or(usize::MAX, |beyond| beyond.saturating_add(waiting));
        self.remaining.store(remaining, Ordering::Relaxed);
        let wake = state.workers_wait.min(state.inputs.len());
        drop(state);
        for _ in 0..wake {
            self.work.notify_one();
        }
    }

    pub(crate) fn entry(&self, index: usize, input: T::Input) -> Entry<T::Input> {
        if self.task.is_request(&input) {
            self.workers.are_for_requests();
        }
        Entry {
            index,
            weight: self.task.weight(&input),
            key: self.task.key(&input),
            input,
        }
    }

    /// Says that no more inputs will come. A consumer that has taken all results is told.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let tell = state.outstanding == 0 && !std::mem::replace(&mut state.told, true);
        drop(state);
        self.work.notify_all();
        if tell {
            self.tell();
        }
    }

    /// Cancels the batch: each input that has not begun gets the result [`Task::cancelled`].
    pub fn cancel(&self) {
        self.options.control.cancel();
        self.wake_waiting_for_room();
    }

    /// Drops all results and all inputs that have not begun.
    pub fn abandon(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        let inputs = state.end();
        let mut results = VecDeque::new();
        state.take(&mut results);
        state.in_flight = 0;
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
        drop((inputs, results));
    }

    /// Wakes workers that wait for room. In a stopped batch the consumer may never make any.
    fn wake_waiting_for_room(&self) {
        // A worker that has found no room holds the lock until it waits, so it cannot miss this.
        drop(self.lock());
        self.room.notify_all();
    }

    fn tell(&self) {
        if let Some(notify) = &self.options.notify {
            (notify.call)();
        }
    }

    /// Takes all results. Returns true if more will come.
    pub fn take(&self, into: &mut VecDeque<Done<T::Output>>) -> bool {
        let mut state = self.lock();
        state.take(into);
        state.outstanding > 0 || !state.closed
    }

    /// Gives back the bytes of consumed results. `head` is the result needed next, if order
    /// matters.
    pub fn release(&self, bytes: u64, head: Option<usize>) {
        self.make_room(self.lock(), bytes, head);
    }

    fn make_room(&self, mut state: MutexGuard<'_, State<T>>, bytes: u64, head: Option<usize>) {
        state.in_flight = state.in_flight.saturating_sub(bytes);
        state.head = head;
        let wanted = state.room_waits > 0;
        drop(state);
        if wanted {
            self.room.notify_all();
        }
    }

    /// Does [`take`](Self::take) and [`release`](Self::release) under one lock. Returns a worker's
    /// panic.
    pub(crate) fn take_and_release(
        &self,
        into: &mut VecDeque<Done<T::Output>>,
        bytes: u64,
        head: Option<usize>,
    ) -> Option<Box<dyn Any + Send>> {
        let mut state = self.lock();
        state.take(into);
        let panic = state.panic.take();
        self.make_room(state, bytes, head);
        panic
    }

    /// Takes the panic of a worker. The consumer should resume it.
    pub fn panic(&self) -> Option<Box<dyn Any + Send>> {
        self.lock().panic.take()
    }

    /// Starts the first worker, for a consumer that is no worker itself. Returns false if the
    /// system has no thread to give.
    pub fn start(self: &Arc<Self>) -> bool {
        self.workers.force_join();
        self.add_worker()
    }

    /// Adds the workers that are wanted and missing, at most one for each input.
    pub(crate) fn recruit(self: &Arc<Self>) {
        if self.workers.active() >= self.workers.wanted() || self.is_stopped() {
            return;
        }
        let state = self.lock();
        let useful = state.inputs.len().saturating_sub(state.workers_wait);
        drop(state);
        for _ in 0..useful {
            if !self.workers.join() || !self.add_worker() {
                return;
            }
        }
    }

    fn add_worker(self: &Arc<Self>) -> bool {
        let batch = Arc::clone(self);
        let spawned = self.spawn.spawn(Box::new(move || batch.work()));
        if !spawned {
            self.workers.leave();
        }
        spawned
    }

    /// The body of a worker's thread. Its place is counted already.
    fn work(self: Arc<Self>) {
        if self.options.notify.is_some() {
            // The consumer has other work, such as answering requests.
            sys::lower_priority();
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.work_off()));
        if !matches!(result, Ok(Claim::Unwanted)) {
            self.workers.leave();
        }
        if let Err(panic) = result {
            self.stopped.store(true, Ordering::Relaxed);
            let mut state = self.lock();
            state.panic.get_or_insert(panic);
            let inputs = state.end();
            drop(state);
            self.work.notify_all();
            self.room.notify_all();
            drop(inputs);
            self.tell();
        } else {
            // A consumer that waits for the last worker counts workers under the lock.
            drop(self.lock());
        }
        self.ready.notify_all();
    }

    fn work_off(self: &Arc<Self>) -> Claim {
        let mut scratch = T::Scratch::default();
        let mut meter = self.workers.meter();
        let mut claimed = VecDeque::with_capacity(MAX_CLAIM);
        let mut max = 1;
        loop {
            match self.claim(&mut claimed, max) {
                Claim::Taken => {}
                end => return end,
            }
            let began = Instant::now();
            let count = claimed.len() as u32;
            while let Some(entry) = claimed.pop_front() {
                let done = self.perform(&mut scratch, &mut meter, entry, &**self);
                self.deliver(done, claimed.is_empty());
                self.recruit();
            }
            // No input should wait behind a slow one while other workers are idle.
            let are_short = began.elapsed() < SHORT * count;
            max = if are_short { MAX_CLAIM.min(2 * max) } else { 1 };
        }
    }

    /// Takes inputs for a worker: a fair share, at most `max`. Waits if there are none.
    fn claim(&self, claimed: &mut VecDeque<Entry<T::Input>>, max: usize) -> Claim {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return Claim::End;
            }
            if self.workers.leave_if_unwanted() {
                let pass_on = !state.inputs.is_empty();
                drop(state);
                if pass_on {
                    // This worker may have been woken for that input.
                    self.work.notify_one();
                }
                return Claim::Unwanted;
            }
            if !state.inputs.is_empty() {
                break;
            }
            state.workers_wait += 1;
            state = wait(&self.work, state);
            state.workers_wait -= 1;
        }
        let share = state.inputs.len() / (2 * self.workers.active().max(1));
        let count = share.clamp(1, max);
        claimed.extend(state.inputs.drain(..count));
        self.count_down(count);
        let over = state.is_over() && state.workers_wait > 0;
        drop(state);
        if over {
            self.work.notify_all();
        }
        Claim::Taken
    }

    /// Takes one input for a consumer that would have to wait, unless too many bytes are in flight.
    /// It always gets its `head`.
    pub(crate) fn claim_for_consumer(&self, head: Option<usize>) -> Option<Entry<T::Input>> {
        let mut state = self.lock();
        let first = state.inputs.front()?;
        if state.in_flight >= self.options.max_in_flight
            && head.is_some_and(|head| head != first.index)
        {
            return None;
        }
        let entry = state.inputs.pop_front();
        state.outstanding -= 1;
        self.count_down(1);
        entry
    }

    /// Says that the consumer has done an input that it claimed.
    pub(crate) fn finish(&self, done: &Done<T::Output>) {
        if let Some(key) = done.key
            && self.lock().finish(key)
        {
            self.work.notify_one();
        }
    }

    fn count_down(&self, count: usize) {
        // All writers hold the lock.
        let remaining = self.remaining.load(Ordering::Relaxed);
        if remaining != usize::MAX {
            let remaining = remaining.saturating_sub(count);
            self.remaining.store(remaining, Ordering::Relaxed);
        }
    }

    /// Sets the number of inputs that remain, for a consumer that does all of them itself.
    pub(crate) fn set_remaining(&self, remaining: Option<usize>) {
        let remaining = remaining.unwrap_or(usize::MAX);
        self.remaining.store(remaining, Ordering::Relaxed);
    }

    /// Returns the number of bytes for which there is room.
    pub(crate) fn room_left(&self) -> u64 {
        let in_flight = self.lock().in_flight;
        self.options.max_in_flight.saturating_sub(in_flight)
    }

    /// Returns the number of bytes in flight.
    #[cfg(all(test, loom))]
    pub(crate) fn in_flight(&self) -> u64 {
        self.lock().in_flight
    }

    /// Waits until there is a result to take, or a panic.
    pub(crate) fn wait_for_result(&self) {
        let mut state = self.lock();
        while state.done.is_empty() && state.panic.is_none() && state.outstanding > 0 {
            state.consumer_waits = true;
            state = wait(&self.ready, state);
            state.consumer_waits = false;
        }
    }

    /// Waits until no worker thread is left, for a consumer that was a worker. Nothing may be left
    /// to do.
    pub(crate) fn wait_for_workers(&self) {
        self.workers.leave_as_consumer();
        let mut state = self.lock();
        while self.workers.active() > 0 {
            state = wait(&self.ready, state);
        }
    }

    /// Runs the task for one input.
    pub(crate) fn perform(
        &self,
        scratch: &mut T::Scratch,
        meter: &mut Meter,
        entry: Entry<T::Input>,
        room: &dyn Room,
    ) -> Done<T::Output> {
        let Entry {
            index,
            input,
            weight,
            key,
        } = entry;
        let done = |output, weight| Done {
            index,
            output,
            weight,
            key,
        };
        if self.is_stopped_at(index) {
            self.count(true, 0);
            return done(self.task.cancelled(input), weight);
        }
        let start = meter.start();
        let mut context = TaskContext::new(room, self, index, weight == 0);
        let output = self.task.run(scratch, input, &mut context);
        let Used {
            reserved,
            moved,
            waited,
        } = context.into_used();
        let failed = self.task.failed(&output);
        meter.stop(&self.workers, start, moved, waited, || {
            let remaining = self.remaining.load(Ordering::Relaxed);
            (remaining != usize::MAX).then_some(remaining)
        });
        if failed && self.options.fail_fast {
            self.failed.fetch_min(index, Ordering::Relaxed);
            self.wake_waiting_for_room();
        }
        self.count(failed, moved);
        done(output, weight + reserved)
    }

    fn count(&self, failed: bool, bytes: u64) {
        if self.counted {
            self.options.control.count(failed, bytes);
        }
    }

    /// Leaves a result for the consumer. `last` says that the worker has no other input.
    fn deliver(&self, done: Done<T::Output>, last: bool) {
        let mut state = self.lock();
        let follows = done.key.is_some_and(|key| state.finish(key)) && state.workers_wait > 0;
        state.done.push_back(done);
        if follows {
            self.work.notify_one();
        }
        if state.consumer_waits {
            drop(state);
            self.ready.notify_one();
            return;
        }
        let Some(notify) = &self.options.notify else {
            return;
        };
        if state.told {
            return;
        }
        let all = last && state.inputs.is_empty();
        let awaited = all || state.room_waits > 0;
        let tell = awaited || state.done.len() >= notify.min_results || {
            let now = Instant::now();
            let since = *state.untold.get_or_insert(now);
            now.duration_since(since) >= notify.max_delay
        };
        if tell {
            state.told = true;
            drop(state);
            self.tell();
        }
    }
}

fn wait<'s, S>(signal: &Condvar, state: MutexGuard<'s, S>) -> MutexGuard<'s, S> {
    signal.wait(state).unwrap_or_else(PoisonError::into_inner)
}

impl<'a, T: Task + 'a> Owner for Batch<'a, T> {
    fn slow_down(&self) {
        self.workers.slow_down();
    }

    fn is_stopped_at(&self, index: usize) -> bool {
        index > self.failed.load(Ordering::Relaxed)
            || self.stopped.load(Ordering::Relaxed)
            || self.options.control.is_cancelled()
    }
}

impl<'a, T: Task + 'a> Room for Batch<'a, T> {
    fn reserve(&self, index: usize, bytes: u64, may_wait: bool) -> Duration {
        let mut state = self.lock();
        let fits = |state: &State<T>| {
            state.in_flight == 0
                || state.head == Some(index)
                || state.in_flight + bytes <= self.options.max_in_flight
                || self.is_stopped()
        };
        if !may_wait || fits(&state) {
            state.in_flight += bytes;
            return Duration::ZERO;
        }
        let began = Instant::now();
        // Results that the consumer has not been told of may hold the room.
        if !state.done.is_empty() && !std::mem::replace(&mut state.told, true) {
            drop(state);
            self.tell();
            state = self.lock();
        }
        while !fits(&state) {
            state.room_waits += 1;
            state = wait(&self.room, state);
            state.room_waits -= 1;
        }
        state.in_flight += bytes;
        began.elapsed()
    }
}
