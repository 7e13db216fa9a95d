//! Calls for many files, and the way back of their results.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use napi_sys as sys;
use smallfry_workers::{Batch, BatchOptions, Done, Notify, Spawn, Task};

use super::commit::{Commit, Flushed};
use super::results::{Made, Value};
use super::task::{Hash, Read, ReadTree, Write};
use super::threads::Threads;
use crate::contents::External;
use crate::environment::Environment;
use crate::errors::error_with_path;
use crate::value::{double_value, number, reference, referenced, set_element, undefined};

/// Results that are made into values between two looks at the clock.
const CLOCK_INTERVAL: usize = 16;
/// The number of results that wakes the event loop while others are in flight.
const WAKE_THRESHOLD: usize = 32;
/// The longest time that a result waits for others.
const MAX_WAIT: Duration = Duration::from_micros(200);

/// The sessions of one environment. It is never freed.
pub(crate) struct Sessions {
    pub(super) environment: &'static Environment,
    open: RefCell<HashMap<u32, AnySession>>,
    /// `advance(id, done, failed, bytes, ended)`, called when a session has new results.
    advance: sys::napi_ref,
}

/// A session of any kind.
#[derive(Clone)]
pub(super) enum AnySession {
    Read(Rc<Session<Read>>),
    Tree(Rc<Session<ReadTree>>),
    Write(Rc<Session<Write>>),
    Hash(Rc<Session<Hash>>),
}

impl AnySession {
    pub(super) fn live(&self) -> &dyn Live {
        match self {
            Self::Read(session) => &**session,
            Self::Tree(session) => &**session,
            Self::Write(session) => &**session,
            Self::Hash(session) => &**session,
        }
    }
}

/// The operations of every session, whatever it does with files.
pub(super) trait Live {
    /// Says that no more inputs will come.
    fn close(&self);
    /// Begins nothing more.
    fn cancel(&self);
    /// Makes values of results until the turn is over. Returns true if there may be more at hand.
    fn make_values(&self, env: sys::napi_env, until: Instant) -> bool;
    fn state(&self) -> State;
    /// Releases the bytes of this many more results: JavaScript has gone through them and keeps
    /// none.
    fn consume(&self, count: usize);
    /// Sets whether the session keeps the process alive. A session that JavaScript goes through in
    /// steps does so while JavaScript waits for a result.
    fn hold(&self, env: sys::napi_env, yes: bool);
    fn results(&self) -> sys::napi_ref;
    /// Does what the last results need.
    fn end(&self, env: sys::napi_env);
    /// Ends the session: JavaScript no longer runs. Returns the barrier to finish when all entries
    /// have run.
    fn leave(&self, env: sys::napi_env) -> Option<Arc<Commit>>;
}

/// The progress that JavaScript is told.
pub(super) struct State {
    /// Results so far.
    done: usize,
    /// The failures among them.
    failed: usize,
    /// Bytes read or written.
    bytes: usize,
    /// There are no more results.
    ended: bool,
}

/// One call for many files.
pub(super) struct Session<T: Task> {
    environment: &'static Environment,
    batch: Arc<Batch<'static, T>>,
    results: sys::napi_ref,
    /// The number of places for results, which are used in turn. The bytes of a result are then in
    /// flight until JavaScript has gone past it; without places, until it has a value.
    places: Option<NonZeroUsize>,
    /// External memory of results, where the array keeps them until the session ends.
    external: Option<External>,
    /// The session keeps the process alive.
    holds_loop: Cell<bool>,
    progress: RefCell<Progress<T::Output>>,
    ending: Option<Ending>,
}

/// The barrier between the last result and the end.
struct Ending {
    commit: Arc<Commit>,
    phase: Cell<Phase>,
    /// Has the environment look at the session once more.
    announce: Arc<dyn Fn() + Send + Sync>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Writing,
    Flushing,
    Done,
}

struct Progress<O> {
    ready: VecDeque<Done<O>>,
    /// More results will come.
    more: bool,
    pushed: usize,
    done: usize,
    failed: usize,
    bytes: usize,
    consumed: usize,
    /// The bytes of results that JavaScript has not gone past, where it goes in steps.
    weights: VecDeque<u64>,
}

/// The destination of a session's results.
#[derive(Clone, Copy)]
pub(super) struct Destination {
    pub(super) id: u32,
    /// A JavaScript array.
    pub(super) results: sys::napi_value,
    /// The number of places in it, where JavaScript goes through results in steps.
    pub(super) places: Option<NonZeroUsize>,
    /// The array keeps every result until the session ends.
    pub(super) keeps: bool,
}

/// The work of a session.
pub(super) struct Work<T> {
    pub(super) task: T,
    pub(super) options: BatchOptions,
    /// The barrier, where files must survive a crash.
    pub(super) commit: Option<Arc<Commit>>,
}

impl<T: Task<Output: Value> + 'static> Session<T> {
    /// Begins a session and its first worker. `None` if the system has no thread to give.
    pub(super) fn open(
        env: sys::napi_env,
        environment: &'static Environment,
        destination: Destination,
        work: Work<T>,
    ) -> Option<Rc<Self>> {
        let Destination {
            id,
            results,
            places,
            keeps,
        } = destination;
        let Work {
            task,
            options,
            commit,
        } = work;
        let mailbox = Arc::clone(&environment.mailbox);
        let announce: Arc<dyn Fn() + Send + Sync> = Arc::new(move || mailbox.announce(id));
        let call = Arc::clone(&announce);
        let notify = Notify {
            call: Box::new(move || call()),
            min_results: if places.is_some() { 1 } else { WAKE_THRESHOLD },
            max_delay: MAX_WAIT,
        };
        let options = BatchOptions {
            notify: Some(notify),
            ..options
        };
        let batch = Batch::new(task, options, Threads);
        if !batch.start() {
            return None;
        }
        let session = Rc::new(Self {
            environment,
            batch,
            results: reference(env, results),
            places,
            external: keeps.then(External::default),
            holds_loop: Cell::new(false),
            progress: RefCell::new(Progress {
                ready: VecDeque::new(),
                more: true,
                pushed: 0,
                done: 0,
                failed: 0,
                bytes: 0,
                consumed: 0,
                weights: VecDeque::new(),
            }),
            ending: commit.map(|commit| Ending {
                commit,
                phase: Cell::new(Phase::Writing),
                announce,
            }),
        });
        session.hold(env, places.is_none());
        Some(session)
    }

    /// Returns the batch, for a thread that pushes inputs into it.
    pub(super) fn batch(&self) -> Arc<Batch<'static, T>> {
        Arc::clone(&self.batch)
    }

    /// Has a thread finish the barrier once all results are there. Then puts its errors in the
    /// places of their entries.
    fn commit(&self, env: sys::napi_env, progress: &mut Progress<T::Output>) {
        let Some(Ending {
            commit,
            phase,
            announce,
        }) = &self.ending
        else {
            return;
        };
        if phase.get() == Phase::Writing {
            phase.set(Phase::Flushing);
            let (flushed, announce) = (Arc::clone(commit), Arc::clone(announce));
            let began = Threads.spawn(Box::new(move || {
                flushed.finish();
                announce();
            }));
            if !began {
                commit.finish();
            }
        }
        if phase.get() == Phase::Done {
            return;
        }
        let Some(outcome) = commit.take_outcome() else {
            return;
        };
        phase.set(Phase::Done);
        let results = referenced(env, self.results);
        match outcome {
            Flushed::Errors(errors) => {
                progress.failed += errors.len();
                for (index, error) in errors {
                    set_element(env, results, index, error_with_path(env, &error));
                }
            }
            Flushed::Panicked => {
                progress.failed = progress.pushed;
                for index in 0..progress.pushed {
                    set_element(env, results, index, undefined(env));
                }
            }
        }
    }

    /// Hands inputs to the workers.
    pub(super) fn push(&self, inputs: Vec<T::Input>, beyond: Option<usize>) {
        let mut progress = self.progress.borrow_mut();
        let first = progress.pushed;
        progress.pushed += inputs.len();
        drop(progress);
        self.batch.push(first, inputs, beyond);
    }
}

impl<T: Task<Output: Value> + 'static> Live for Session<T> {
    fn close(&self) {
        self.batch.close();
    }

    fn cancel(&self) {
        self.batch.cancel();
    }

    fn make_values(&self, env: sys::napi_env, until: Instant) -> bool {
        let mut progress = self.progress.borrow_mut();
        let results = referenced(env, self.results);
        loop {
            if progress.ready.is_empty() {
                progress.more = self.batch.take(&mut progress.ready);
                if progress.ready.is_empty() {
                    // After a panic of a worker its entries have no results, which JavaScript sees.
                    progress.more &= self.batch.panic().is_none();
                    if !progress.more {
                        self.commit(env, &mut progress);
                    }
                    return false;
                }
            }
            let count = progress.ready.len().min(CLOCK_INTERVAL);
            let (mut released, mut all_external) = (0, 0);
            let mut scope = std::ptr::null_mut();
            // SAFETY: closed below, on the same thread; values made in between are kept by the
            // array.
            unsafe { sys::napi_open_handle_scope(env, &raw mut scope) };
            for done in progress.ready.drain(..count).collect::<Vec<_>>() {
                let Done {
                    index,
                    output,
                    weight,
                    ..
                } = done;
                let Made {
                    value,
                    bytes,
                    external,
                    failed,
                } = output.value(env, self.environment);
                let place = self.places.map_or(index, |places| index % places);
                set_element(env, results, place, value);
                progress.done += 1;
                progress.failed += usize::from(failed);
                progress.bytes += bytes;
                all_external += external;
                if self.places.is_some() {
                    progress.keep_weight(index, weight);
                } else {
                    released += weight;
                }
            }
            // SAFETY: the scope opened above.
            unsafe { sys::napi_close_handle_scope(env, scope) };
            if let Some(kept) = &self.external {
                kept.take_back(env, all_external);
            }
            if released > 0 {
                self.batch.release(released, None);
            }
            if Instant::now() >= until {
                return true;
            }
        }
    }

    fn state(&self) -> State {
        let progress = self.progress.borrow();
        let ending = self.ending.as_ref();
        let is_flushed = ending.is_none_or(|ending| ending.phase.get() == Phase::Done);
        State {
            done: progress.done,
            failed: progress.failed,
            bytes: progress.bytes,
            ended: !progress.more && progress.ready.is_empty() && is_flushed,
        }
    }

    fn consume(&self, count: usize) {
        let mut progress = self.progress.borrow_mut();
        progress.consumed += count;
        let known = count.min(progress.weights.len());
        let released = progress.weights.drain(..known).sum();
        self.batch.release(released, Some(progress.consumed));
    }

    fn hold(&self, env: sys::napi_env, yes: bool) {
        match (self.holds_loop.replace(yes), yes) {
            (false, true) => drop(self.environment.hold_loop(env)),
            (true, false) => self.environment.release_loop(env),
            _ => {}
        }
    }

    fn results(&self) -> sys::napi_ref {
        self.results
    }

    fn end(&self, env: sys::napi_env) {
        self.hold(env, false);
        if let Some(kept) = &self.external {
            kept.tell(env);
        }
    }

    fn leave(&self, env: sys::napi_env) -> Option<Arc<Commit>> {
        // V8 takes back the memory of all values when the environment goes, and must know of all.
        if let Some(kept) = &self.external {
            kept.tell(env);
        }
        self.batch.close();
        if T::Output::CAN_BE_DROPPED {
            // The task may be in the middle of a large file.
            self.batch.cancel();
            self.batch.abandon();
        }
        self.ending
            .as_ref()
            .map(|ending| Arc::clone(&ending.commit))
    }
}

impl<O> Progress<O> {
    fn keep_weight(&mut self, index: usize, weight: u64) {
        let place = index - self.consumed;
        if self.weights.len() <= place {
            self.weights.resize(place + 1, 0);
        }
        self.weights[place] = weight;
    }
}

impl Sessions {
    /// `advance` is a reference to a function.
    pub(crate) fn new(environment: &'static Environment, advance: sys::napi_ref) -> Self {
        Self {
            environment,
            open: RefCell::default(),
            advance,
        }
    }

    pub(super) fn add(&self, id: u32, session: AnySession) {
        self.open.borrow_mut().insert(id, session);
    }

    /// Finds the session of this number, if it has not ended.
    pub(super) fn find(&self, id: u32) -> Option<AnySession> {
        self.open.borrow().get(&id).cloned()
    }

    /// Gives these sessions their results until it is time for other things, and tells JavaScript.
    /// Returns the sessions that may have more results at hand.
    pub(crate) fn deliver(&self, env: sys::napi_env, ids: Vec<u32>, until: Instant) -> Vec<u32> {
        let mut unfinished = Vec::new();
        for id in ids {
            let Some(session) = self.find(id) else {
                continue;
            };
            let session = session.live();
            if session.make_values(env, until) {
                unfinished.push(id);
            }
            let state = session.state();
            if state.ended {
                self.open.borrow_mut().remove(&id);
                session.end(env);
                // SAFETY: made when the session was opened, and used for the last time above.
                unsafe { sys::napi_delete_reference(env, session.results()) };
            }
            self.advance(env, id, &state);
        }
        unfinished
    }

    /// Calls `advance`. An exception in it is an uncaught one.
    fn advance(&self, env: sys::napi_env, id: u32, state: &State) {
        let arguments = [
            number(env, id.cast_signed()),
            double_value(env, state.done as f64),
            double_value(env, state.failed as f64),
            double_value(env, state.bytes as f64),
            number(env, i32::from(state.ended)),
        ];
        let mut result = std::ptr::null_mut();
        // SAFETY: live handles of this callback scope.
        unsafe {
            let status = sys::napi_call_function(
                env,
                undefined(env),
                referenced(env, self.advance),
                arguments.len(),
                arguments.as_ptr(),
                &raw mut result,
            );
            if status == sys::Status::napi_pending_exception {
                let mut exception = std::ptr::null_mut();
                sys::napi_get_and_clear_last_exception(env, &raw mut exception);
                sys::napi_fatal_exception(env, exception);
            }
        }
    }

    /// Ends all sessions: accepted writes are done, reads are dropped. Returns the barriers to
    /// finish when all entries have run.
    pub(crate) fn leave(&self, env: sys::napi_env) -> Vec<Arc<Commit>> {
        let open = self.open.take().into_values();
        open.filter_map(|session| session.live().leave(env))
            .collect()
    }
}
