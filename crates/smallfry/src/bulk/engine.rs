//! The machinery of a batch, for front ends that have their own kinds of work and of results.
//!
//! A [`Task`] says what is done for one input. A [`Batch`] holds inputs that wait, results that wait, and the workers in
//! between: threads that take an input, run the task and leave the result. How many there are is up to
//! [`Strategy`]. Who consumes results may be one of the workers, so that the calling thread alone does everything as
//! long as that is fastest: [`Stream`] does so.
//!
//! Bytes in flight are bounded: a task that has found out how much memory its result takes asks for it with
//! [`TaskContext::reserve`], and is made to wait while too many results have not been consumed. The one that the consumer
//! needs next never waits.

use std::any::Any;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, Scope};
use std::time::Duration;

use super::workers::SHORT;
use super::{Control, Strategy};
use crate::sync::{
    Arc, AtomicBool, AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, PoisonError,
};
use crate::sys;

#[cfg(all(test, loom))]
mod model;
mod stream;

pub use super::workers::{Meter, Start, Workers};
pub use stream::Stream;

/// Results waiting to be consumed, and inputs of writes, hold this many bytes at most unless said otherwise.
pub const MAX_IN_FLIGHT: u64 = 32 << 20;

/// Inputs that one worker takes at a time while operations are short.
const CLAIM: usize = 8;
/// Results for which there is room at once, however many inputs are promised.
const MAX_ROOM: usize = 1 << 16;
/// Enough for a task, which has its large buffers elsewhere. In bytes.
const STACK: usize = 256 << 10;

/// What is done for each input of a batch.
pub trait Task: Send + Sync {
    /// A path; a path and what to write there.
    type Input: Send;
    /// A result, errors among them.
    type Output: Send;
    /// What each worker keeps from one input to the next: an arena, a buffer.
    type Scratch: Default + Send;

    /// Does it.
    fn run(
        &self,
        scratch: &mut Self::Scratch,
        input: Self::Input,
        context: &mut TaskContext<'_>,
    ) -> Self::Output;

    /// The result for an input that was cancelled before it began.
    fn cancelled(&self, input: Self::Input) -> Self::Output;

    /// Whether that result is an error.
    fn failed(&self, output: &Self::Output) -> bool;

    /// Bytes that an input holds in memory until its result is consumed. They count as in flight from the moment it is
    /// pushed, so a task of such inputs has its bytes already and does not wait in [`TaskContext::reserve`].
    fn weight(&self, _input: &Self::Input) -> u64 {
        0
    }

    /// Inputs of one key are done one after the other, in their order.
    fn key(&self, _input: &Self::Input) -> Option<u64> {
        None
    }
}

/// Makes threads: for as long as the process ([`Detached`]) or as a scope.
pub trait Spawn<'a>: Send + Sync {
    /// False if the system has no thread to give.
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'a>) -> bool;
}

/// Threads that own all they use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detached;

impl Spawn<'static> for Detached {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'static>) -> bool {
        builder().spawn(body).is_ok()
    }
}

impl<'scope> Spawn<'scope> for &'scope Scope<'scope, '_> {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'scope>) -> bool {
        builder().spawn_scoped(self, body).is_ok()
    }
}

fn builder() -> Builder {
    Builder::new().name("smallfry".into()).stack_size(STACK)
}

/// How a batch is to be done.
pub struct BatchOptions {
    /// How many at once.
    pub strategy: Strategy,
    /// Bound on what waits to be consumed, in bytes.
    pub max_in_flight: u64,
    /// Who may cancel it.
    pub control: Control,
    /// Stop at the first error: nothing behind it is begun any more.
    pub fail_fast: bool,
    /// For a consumer that does not wait for results but is told of them.
    pub notify: Option<Notify>,
}

/// How a consumer is told that there are results.
pub struct Notify {
    /// Called on any thread and without a lock; once, until results are taken. Also when there is nothing more to take,
    /// because the batch was closed after its last result was taken, or because a worker panicked.
    pub call: Box<dyn Fn() + Send + Sync>,
    /// Results worth telling of, while others are on their way. 1 to be told of each at once.
    pub together: usize,
    /// How long results may have waited when another one comes before they are told of. There is no clock beside that: if
    /// no other comes, they wait for as long as the next operation takes.
    pub patience: Duration,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            max_in_flight: MAX_IN_FLIGHT,
            control: Control::new(),
            fail_fast: false,
            notify: None,
        }
    }
}

/// Does a task for all inputs and gives the results in their order, without those of inputs that a stopped batch left
/// alone.
///
/// The threads end before this returns, so inputs may borrow.
pub fn run_all<T: Task>(
    task: T,
    options: BatchOptions,
    inputs: impl IntoIterator<Item = T::Input>,
) -> Vec<T::Output> {
    let inputs = inputs.into_iter();
    // An endless iterator, which only `control` ends, promises more than there is memory for.
    let mut results = Vec::with_capacity(inputs.size_hint().0.min(MAX_ROOM));
    std::thread::scope(|scope| {
        let batch = Batch::new(task, options, scope);
        for (index, output) in Stream::new(batch, inputs, false) {
            if results.len() <= index {
                results.resize_with(index + 1, || None);
            }
            results[index] = Some(output);
        }
    });
    results.into_iter().flatten().collect()
}

/// One result.
#[derive(Debug)]
pub struct Done<O> {
    /// Of the input, in the order in which they were pushed.
    pub index: usize,
    /// What came of it.
    pub output: O,
    /// Bytes in flight that [`Batch::release`] is to be told of when the result has been consumed.
    pub weight: u64,
    /// Of the input.
    key: Option<u64>,
}

/// Inputs, workers and results.
pub struct Batch<'a, T: Task> {
    task: T,
    spawn: Box<dyn Spawn<'a> + 'a>,
    options: BatchOptions,
    workers: Workers,
    state: Mutex<State<T>>,
    /// Where workers wait for inputs.
    work: Condvar,
    /// Where workers wait until less is in flight.
    room: Condvar,
    /// Where the consumer waits: for results, for the last worker to leave.
    ready: Condvar,
    /// Inputs that no worker has taken, as far as is known; `usize::MAX` if it is not.
    remaining: AtomicUsize,
    /// Somebody may ask the control how far the batch is.
    counted: bool,
    /// Nobody wants results any more.
    stopped: AtomicBool,
    /// The first input that failed, of a batch that fails fast. Those before it are done all the same: who goes through
    /// results in order finds the failure first, and then what it stopped.
    failed: AtomicUsize,
}

struct State<T: Task> {
    inputs: VecDeque<Entry<T::Input>>,
    closed: bool,
    /// Keys of inputs under way, and the inputs that wait for these.
    keys: HashMap<u64, VecDeque<Entry<T::Input>>>,
    /// How many inputs wait for another of their key.
    behind: usize,
    done: VecDeque<Done<T::Output>>,
    /// Inputs pushed whose results have not been taken.
    outstanding: usize,
    /// When the oldest result came that the consumer has not been told of.
    untold: Option<Instant>,
    /// The consumer was told of results and has not come yet.
    told: bool,
    consumer_waits: bool,
    /// Workers that wait for inputs.
    workers_wait: usize,
    /// Workers that wait for room.
    room_waits: usize,
    /// What the consumer needs next, if it needs results in order.
    head: Option<usize>,
    in_flight: u64,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T: Task> State<T> {
    /// Puts an input where workers take it, or behind the one of its key that is under way.
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

    /// What had this key is done: the next one may begin. True if there is one.
    fn finish(&mut self, key: u64) -> bool {
        let next = self.keys.get_mut(&key).and_then(VecDeque::pop_front);
        let Some(next) = next else {
            self.keys.remove(&key);
            return false;
        };
        self.behind -= 1;
        // In its place: what the consumer needs next is always the first in the queue if no worker has it.
        let before = |entry: &Entry<T::Input>| entry.index < next.index;
        self.inputs
            .insert(self.inputs.partition_point(before), next);
        true
    }

    /// Whether no worker will find anything to do any more.
    fn is_over(&self) -> bool {
        self.closed && self.inputs.is_empty() && self.behind == 0
    }

    /// Takes all results that there are.
    fn take(&mut self, into: &mut VecDeque<Done<T::Output>>) {
        self.told = false;
        self.untold = None;
        self.outstanding -= self.done.len();
        into.append(&mut self.done);
    }

    /// Begins nothing more. The inputs are answered, to be dropped without the lock.
    fn end(&mut self) -> impl Sized + use<T> {
        let inputs = std::mem::take(&mut self.inputs);
        let behind = std::mem::take(&mut self.keys);
        self.outstanding -= inputs.len() + std::mem::take(&mut self.behind);
        self.closed = true;
        (inputs, behind)
    }
}

/// One input on its way.
struct Entry<I> {
    index: usize,
    input: I,
    weight: u64,
    key: Option<u64>,
}

/// What a worker that asked for inputs has got.
enum Claim {
    Taken,
    /// There are none and there will be none.
    End,
    /// There are more workers than wanted, and its place is no longer counted.
    Dismissed,
}

impl<'a, T: Task + 'a> Batch<'a, T> {
    /// Nothing runs before something is pushed.
    pub fn new(task: T, options: BatchOptions, spawn: impl Spawn<'a> + 'a) -> Arc<Self> {
        Arc::new(Self {
            task,
            spawn: Box::new(spawn),
            workers: Workers::new(options.strategy),
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

    /// What is done for each input.
    pub fn task(&self) -> &T {
        &self.task
    }

    /// Who may cancel it.
    pub fn control(&self) -> &Control {
        &self.options.control
    }

    /// Whether this input is not to be done any more.
    fn is_stopped_at(&self, index: usize) -> bool {
        index > self.failed.load(Ordering::Relaxed)
            || self.stopped.load(Ordering::Relaxed)
            || self.options.control.is_cancelled()
    }

    /// Whether no more inputs are wanted.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped_at(usize::MAX)
    }

    /// Adds inputs, the `first` of which has this number, and of which `beyond` more will follow as far as is known.
    pub fn push(
        self: &Arc<Self>,
        first: usize,
        inputs: impl IntoIterator<Item = T::Input>,
        beyond: Option<usize>,
    ) {
        // What the task says of its inputs is not asked under the lock.
        let entries = (first..).zip(inputs);
        let entries = entries.map(|(index, input)| self.entry(index, input));
        self.push_entries(entries.collect(), beyond);
        // Not only when the first operation is done: it may be a slow one.
        self.recruit();
    }

    fn push_entries(&self, entries: Vec<Entry<T::Input>>, beyond: Option<usize>) {
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

    fn entry(&self, index: usize, input: T::Input) -> Entry<T::Input> {
        Entry {
            index,
            weight: self.task.weight(&input),
            key: self.task.key(&input),
            input,
        }
    }

    /// No more inputs will come. A consumer that has taken all results is told that these were all.
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

    /// Nothing more is begun: what has not begun gets a result that says so.
    pub fn cancel(&self) {
        self.options.control.cancel();
        self.let_in();
    }

    /// Nobody wants results any more: what has not begun is dropped.
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

    /// The batch has stopped: a worker that waits for room is not to wait for a consumer that may have lost interest.
    fn let_in(&self) {
        // A worker that has just seen that it must wait holds the lock until it does.
        drop(self.lock());
        self.room.notify_all();
    }

    fn tell(&self) {
        if let Some(notify) = &self.options.notify {
            (notify.call)();
        }
    }

    /// Takes all results that there are, and answers whether more will come.
    pub fn take(&self, into: &mut VecDeque<Done<T::Output>>) -> bool {
        let mut state = self.lock();
        state.take(into);
        state.outstanding > 0 || !state.closed
    }

    /// Results of this many bytes were consumed, and the one needed next is `head`, where that matters.
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

    /// [`take`](Self::take) and [`release`](Self::release) at once, for a consumer that then goes on with a worker's panic.
    fn exchange(
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

    /// A worker's panic, which its consumer is to go on with.
    pub fn panic(&self) -> Option<Box<dyn Any + Send>> {
        self.lock().panic.take()
    }

    /// Makes a thread the first worker, for a consumer that does not work itself. False if the system has none to give.
    pub fn start(self: &Arc<Self>) -> bool {
        self.workers.force_join();
        self.add_worker()
    }

    /// Adds workers that are wanted and missing, no more than there are inputs for.
    fn recruit(self: &Arc<Self>) {
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

    /// Body of a worker's thread, which has a place in the workers.
    fn work(self: Arc<Self>) {
        if self.options.notify.is_some() {
            // The consumer has other things to do as well, such as answering requests.
            sys::give_precedence();
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.work_off()));
        if !matches!(result, Ok(Claim::Dismissed)) {
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
            // A consumer that has just seen this worker at work holds the lock until it waits for its end.
            drop(self.lock());
        }
        self.ready.notify_all();
    }

    fn work_off(self: &Arc<Self>) -> Claim {
        let mut scratch = T::Scratch::default();
        let mut meter = self.workers.meter();
        let mut claimed = VecDeque::with_capacity(CLAIM);
        let mut most = 1;
        loop {
            match self.claim(&mut claimed, most) {
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
            // Nothing should have to wait behind a slow one while other workers are idle.
            let are_short = began.elapsed() < SHORT * count;
            most = if are_short { CLAIM.min(2 * most) } else { 1 };
        }
    }

    /// Takes inputs for a worker, a fair share but not more than `most`, and waits for them if it must.
    fn claim(&self, claimed: &mut VecDeque<Entry<T::Input>>, most: usize) -> Claim {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return Claim::End;
            }
            if self.workers.dismiss() {
                let pass_on = !state.inputs.is_empty();
                drop(state);
                if pass_on {
                    // This worker may have been woken for it.
                    self.work.notify_one();
                }
                return Claim::Dismissed;
            }
            if !state.inputs.is_empty() {
                break;
            }
            state.workers_wait += 1;
            state = wait(&self.work, state);
            state.workers_wait -= 1;
        }
        let share = state.inputs.len() / (2 * self.workers.active().max(1));
        let count = share.clamp(1, most);
        claimed.extend(state.inputs.drain(..count));
        self.count_down(count);
        let over = state.is_over() && state.workers_wait > 0;
        drop(state);
        if over {
            self.work.notify_all();
        }
        Claim::Taken
    }

    /// Takes one input for a consumer that has nothing else to do, unless too much waits to be consumed already. Its
    /// `head` is always given to it.
    fn claim_for_consumer(&self, head: Option<usize>) -> Option<Entry<T::Input>> {
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

    /// The consumer has done what it claimed.
    fn finish(&self, done: &Done<T::Output>) {
        if let Some(key) = done.key
            && self.lock().finish(key)
        {
            self.work.notify_one();
        }
    }

    fn count_down(&self, count: usize) {
        // Under the lock, as all who write it.
        let remaining = self.remaining.load(Ordering::Relaxed);
        if remaining != usize::MAX {
            let remaining = remaining.saturating_sub(count);
            self.remaining.store(remaining, Ordering::Relaxed);
        }
    }

    /// For a consumer that does everything itself.
    fn set_remaining(&self, remaining: Option<usize>) {
        let remaining = remaining.unwrap_or(usize::MAX);
        self.remaining.store(remaining, Ordering::Relaxed);
    }

    /// Bytes that may be added to what is in flight.
    fn room_left(&self) -> u64 {
        let in_flight = self.lock().in_flight;
        self.options.max_in_flight.saturating_sub(in_flight)
    }

    /// Waits until there is a result to take, or a panic.
    fn wait_for_result(&self) {
        let mut state = self.lock();
        while state.done.is_empty() && state.panic.is_none() && state.outstanding > 0 {
            state.consumer_waits = true;
            state = wait(&self.ready, state);
            state.consumer_waits = false;
        }
    }

    /// Waits until no worker thread is left. Nothing must be left to do.
    fn wait_for_workers(&self) {
        self.workers.absent();
        let mut state = self.lock();
        while self.workers.active() > 0 {
            state = wait(&self.ready, state);
        }
    }

    /// Runs the task for one input.
    fn perform(
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
        let mut context = TaskContext {
            room,
            index,
            waits: weight == 0,
            reserved: 0,
            moved: 0,
            waited: Duration::ZERO,
        };
        let output = self.task.run(scratch, input, &mut context);
        let TaskContext {
            reserved,
            moved,
            waited,
            ..
        } = context;
        let failed = self.task.failed(&output);
        meter.stop(&self.workers, start, moved, waited, || {
            let remaining = self.remaining.load(Ordering::Relaxed);
            (remaining != usize::MAX).then_some(remaining)
        });
        if failed && self.options.fail_fast {
            self.failed.fetch_min(index, Ordering::Relaxed);
            self.let_in();
        }
        self.count(failed, moved);
        done(output, weight + reserved)
    }

    fn count(&self, failed: bool, bytes: u64) {
        if self.counted {
            self.options.control.count(failed, bytes);
        }
    }

    /// Leaves a result for the consumer. The worker has nothing more at hand if it is the `last`.
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
        let tell = awaited || state.done.len() >= notify.together || {
            let now = Instant::now();
            let since = *state.untold.get_or_insert(now);
            now.duration_since(since) >= notify.patience
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

/// Bounds what is in flight.
trait Room {
    /// Answers how long it took to get.
    fn reserve(&self, index: usize, bytes: u64, waits: bool) -> Duration;
}

impl<'a, T: Task + 'a> Room for Batch<'a, T> {
    fn reserve(&self, index: usize, bytes: u64, waits: bool) -> Duration {
        let mut state = self.lock();
        let fits = |state: &State<T>| {
            state.in_flight == 0
                || state.head == Some(index)
                || state.in_flight + bytes <= self.options.max_in_flight
                || self.is_stopped()
        };
        if !waits || fits(&state) {
            state.in_flight += bytes;
            return Duration::ZERO;
        }
        let began = Instant::now();
        // The room may be that of results that the consumer does not know of yet.
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

/// What a running task may ask of its batch, and tells it.
pub struct TaskContext<'b> {
    room: &'b dyn Room,
    index: usize,
    /// Nothing is held yet for which somebody else may be waiting.
    waits: bool,
    reserved: u64,
    moved: u64,
    waited: Duration,
}

impl TaskContext<'_> {
    /// The number of the input, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Asks for room for `bytes` of the result. The first time it may take until others have been consumed.
    pub fn reserve(&mut self, bytes: u64) {
        // One who has some already and waits for more could wait for another who does the same.
        let waits = std::mem::replace(&mut self.waits, false);
        self.waited += self.room.reserve(self.index, bytes, waits);
        self.reserved += bytes;
    }

    /// Says how many bytes were read or written.
    pub fn moved(&mut self, bytes: usize) {
        self.moved += bytes as u64;
    }
}
