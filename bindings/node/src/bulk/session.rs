//! Calls for many files on their way, and the way back of their results.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use napi_sys as sys;
use smallfry_workers::{Batch, BatchOptions, Done, Notify, Spawn, Task};

use super::commit::{Commit, Flushed};
use super::outcome::{Made, Value, error_with_path};
use super::task::{Read, ReadTree, Write};
use super::threads::Threads;
use crate::environment::Environment;
use crate::jobs::{Client, hold_loop, release_loop};
use crate::value::{double_value, number, reference, referenced, set_element, undefined};

/// Results between two looks at the clock.
const BETWEEN_LOOKS: usize = 16;
/// Results worth a wake-up of the event loop while others are on their way.
const TOGETHER: usize = 32;
/// How long a result waits for others.
const PATIENCE: Duration = Duration::from_micros(200);

/// The calls under way in one environment.
#[derive(Default)]
pub(crate) struct Sessions(RefCell<HashMap<u32, Open>>);

/// A session of either kind.
#[derive(Clone)]
pub(super) enum Open {
    Read(Rc<Session<Read>>),
    Tree(Rc<Session<ReadTree>>),
    Write(Rc<Session<Write>>),
}

impl Open {
    pub(super) fn session(&self) -> &dyn Live {
        match self {
            Self::Read(session) => &**session,
            Self::Tree(session) => &**session,
            Self::Write(session) => &**session,
        }
    }
}

/// What JavaScript and the event loop can do with a session, whatever it does with files.
pub(super) trait Live {
    /// No more inputs will come.
    fn close(&self);
    /// Nothing more is to be begun.
    fn cancel(&self);
    /// Makes values of results until the turn is over: true if there may be more at hand.
    fn settle(&self, env: sys::napi_env, environment: &Environment, until: Instant) -> bool;
    fn state(&self) -> State;
    /// JavaScript has gone through this many results, of which it keeps none.
    fn consume(&self, count: usize);
    /// Whether the process is to stay for it. Where JavaScript goes in steps, it is while JavaScript waits for one.
    fn hold(&self, env: sys::napi_env, environment: &Environment, yes: bool);
    fn results(&self) -> sys::napi_ref;
    /// Nobody will look at results any more. Answers what is to be finished when all entries have run.
    fn leave(&self) -> Option<Arc<Commit>>;
}

/// How far a session is.
pub(super) struct State {
    /// Results so far.
    done: usize,
    /// Of these, the failures.
    failed: usize,
    /// That the results moved.
    bytes: usize,
    /// These are all.
    ended: bool,
}

/// One call for many files.
pub(super) struct Session<T: Task> {
    batch: Arc<Batch<'static, T>>,
    results: sys::napi_ref,
    /// Results take places in turn, and bytes of one are in flight until JavaScript has gone past it, not only until it
    /// has a value.
    places: Option<NonZeroUsize>,
    /// The process does not end meanwhile.
    holds_loop: Cell<bool>,
    progress: RefCell<Progress<T::Output>>,
    ending: Option<Ending>,
}

/// What comes between the last result and the end.
struct Ending {
    commit: Arc<Commit>,
    step: Cell<Step>,
    /// Has the environment look at the session once more.
    call: Arc<dyn Fn() + Send + Sync>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Writing,
    Flushing,
    Done,
}

struct Progress<O> {
    ready: VecDeque<Done<O>>,
    /// More results will come than are ready.
    more: bool,
    pushed: usize,
    done: usize,
    failed: usize,
    bytes: usize,
    consumed: usize,
    /// Of results that JavaScript has not gone past, where it goes in steps.
    weights: VecDeque<u64>,
}

/// How a session works with its results.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) id: u32,
    pub(super) results: sys::napi_value,
    /// How many places there are for results, where JavaScript goes through them in steps.
    pub(super) places: Option<NonZeroUsize>,
}

impl<T: Task<Output: Value> + 'static> Session<T> {
    /// Begins a session and its first worker. `None` if the system has no thread to give.
    pub(super) fn open(
        env: sys::napi_env,
        environment: &Environment,
        manner: Manner,
        (task, options, commit): (T, BatchOptions, Option<Arc<Commit>>),
    ) -> Option<Rc<Self>> {
        let Manner {
            id,
            results,
            places,
        } = manner;
        let client: Arc<Client> = Arc::clone(&environment.client);
        let call: Arc<dyn Fn() + Send + Sync> = Arc::new(move || client.nudge(id));
        let again = Arc::clone(&call);
        let notify = Notify {
            call: Box::new(move || call()),
            min_results: if places.is_some() { 1 } else { TOGETHER },
            max_delay: PATIENCE,
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
            batch,
            results: reference(env, results),
            places,
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
                step: Cell::new(Step::Writing),
                call: again,
            }),
        });
        session.hold(env, environment, places.is_none());
        Some(session)
    }

    /// The batch, for whoever else pushes inputs into it.
    pub(super) fn batch(&self) -> Arc<Batch<'static, T>> {
        Arc::clone(&self.batch)
    }

    /// Once all results are there: has the barrier finished, by a thread, and then puts its errors in the places of results that
    /// were none.
    fn commit(&self, env: sys::napi_env, progress: &mut Progress<T::Output>) {
        let Some(Ending { commit, step, call }) = &self.ending else {
            return;
        };
        if step.get() == Step::Writing {
            step.set(Step::Flushing);
            let (flushed, call) = (Arc::clone(commit), Arc::clone(call));
            let began = Threads.spawn(Box::new(move || {
                flushed.finish();
                call();
            }));
            if !began {
                commit.finish();
            }
        }
        if step.get() == Step::Done {
            return;
        }
        let Some(outcome) = commit.take_outcome() else {
            return;
        };
        step.set(Step::Done);
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

    fn settle(&self, env: sys::napi_env, environment: &Environment, until: Instant) -> bool {
        let mut progress = self.progress.borrow_mut();
        let results = referenced(env, self.results);
        loop {
            if progress.ready.is_empty() {
                progress.more = self.batch.take(&mut progress.ready);
                if progress.ready.is_empty() {
                    // After a panic of a worker, a bug of ours, its entries have no results: JavaScript sees that.
                    progress.more &= self.batch.panic().is_none();
                    if !progress.more {
                        self.commit(env, &mut progress);
                    }
                    return false;
                }
            }
            let count = progress.ready.len().min(BETWEEN_LOOKS);
            let mut released = 0;
            let mut scope = std::ptr::null_mut();
            // SAFETY: closed below, on the same thread; values made in between are kept by the array.
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
                    failed,
                } = output.value(env, environment);
                let place = self.places.map_or(index, |places| index % places);
                set_element(env, results, place, value);
                progress.done += 1;
                progress.failed += usize::from(failed);
                progress.bytes += bytes;
                if self.places.is_some() {
                    progress.keep_weight(index, weight);
                } else {
                    released += weight;
                }
            }
            // SAFETY: the scope opened above.
            unsafe { sys::napi_close_handle_scope(env, scope) };
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
        let is_flushed = ending.is_none_or(|ending| ending.step.get() == Step::Done);
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

    fn hold(&self, env: sys::napi_env, environment: &Environment, yes: bool) {
        match (self.holds_loop.replace(yes), yes) {
            (false, true) => drop(hold_loop(env, environment)),
            (true, false) => release_loop(env, environment),
            _ => {}
        }
    }

    fn results(&self) -> sys::napi_ref {
        self.results
    }

    fn leave(&self) -> Option<Arc<Commit>> {
        self.batch.close();
        if T::Output::CAN_BE_DROPPED {
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
    pub(super) fn add(&self, id: u32, session: Open) {
        self.0.borrow_mut().insert(id, session);
    }

    /// The session of this number, if it has not ended.
    pub(super) fn find(&self, id: u32) -> Option<Open> {
        self.0.borrow().get(&id).cloned()
    }
}

/// Gives sessions their results until it is time for other things, and tells JavaScript. Answers those of which there may
/// be more results at hand.
pub(crate) fn deliver(
    env: sys::napi_env,
    environment: &Environment,
    ids: Vec<u32>,
    until: Instant,
) -> Vec<u32> {
    let mut unfinished = Vec::new();
    for id in ids {
        let Some(open) = environment.sessions.find(id) else {
            continue;
        };
        let session = open.session();
        if session.settle(env, environment, until) {
            unfinished.push(id);
        }
        let state = session.state();
        if state.ended {
            environment.sessions.0.borrow_mut().remove(&id);
            session.hold(env, environment, false);
            // SAFETY: made when the session was opened, and used for the last time above.
            unsafe { sys::napi_delete_reference(env, session.results()) };
        }
        tell(env, environment, id, &state);
    }
    unfinished
}

/// Calls `advance(id, done, failed, bytes, ended)`; what it throws is an uncaught exception.
fn tell(env: sys::napi_env, environment: &Environment, id: u32, state: &State) {
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
            referenced(env, environment.advance.get()),
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

/// The environment ends: what was accepted to be written is written, reads are dropped. Answers what is to be finished then.
pub(crate) fn forget(environment: &Environment) -> Vec<Arc<Commit>> {
    let mut sessions = environment.sessions.0.borrow_mut();
    let left = sessions
        .drain()
        .filter_map(|(_, open)| open.session().leave());
    left.collect()
}
