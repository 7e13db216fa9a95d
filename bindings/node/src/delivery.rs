//! Gives results back to JavaScript, on the environment's own thread.
//!
//! The environment is woken once for all results that have arrived. They are given back a few
//! milliseconds at a time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use napi_sys as sys;

use crate::bulk::Sessions;
use crate::environment::{Environment, called};
use crate::errors::{Failure, Reason};
use crate::exit;
use crate::jobs::queue;
use crate::mailbox::{Answer, Finished};
use crate::value::{Function, number, referenced, undefined, utf8};

/// The code of a result whose value describes the failure. `lib/requests.ts` knows it.
const DETAILED: i32 = -3;
/// The maximum number of results that are given back in one callback scope.
const BATCH: usize = 256;
/// The time for which results are given back before the event loop may do other things.
const TURN: Duration = Duration::from_millis(2);

pub(crate) const FUNCTIONS: &[Function] =
    &[Function(c"resume", resume), Function(c"finish", finish)];

/// The results of one environment on their way back. It is never freed.
pub(crate) struct Delivery {
    env: sys::napi_env,
    environment: &'static Environment,
    sessions: &'static Sessions,
    /// Finished jobs that wait for a callback scope of their own.
    arrived: RefCell<VecDeque<Finished>>,
    /// Sessions that may have more results at hand.
    ready: RefCell<Vec<u32>>,
    turn: Turn,
    /// `complete(id, code, value)`, called for each finished job.
    complete: sys::napi_ref,
    /// `defer()`, called when there is more to do and other things come first.
    defer: sys::napi_ref,
}

/// The time for which the event loop has been kept from other things. Waking it from its own
/// callback does not let them in: Node then runs the callback again, up to a thousand times.
#[derive(Default)]
struct Turn {
    /// The beginning of this turn.
    began: Cell<Option<Instant>>,
    /// JavaScript will call [`resume`] in the next turn; nothing is given back before.
    deferred: Cell<bool>,
}

impl Turn {
    /// Returns when this turn is to end. Results that come soon after the last ones belong to the
    /// same turn, as they may come from the same round of Node's.
    fn until(&self) -> Instant {
        let now = Instant::now();
        let began = self
            .began
            .get()
            .filter(|began| now.duration_since(*began) < TURN);
        let began = began.unwrap_or(now);
        self.began.set(Some(began));
        began + TURN
    }
}

/// Wakes an environment. The thread-safe function needs its context before the [`Delivery`] exists,
/// so the context is memory that [`connect`](Self::connect) fills.
pub(crate) struct Waker {
    pub(crate) function: sys::napi_threadsafe_function,
    place: *mut Delivery,
}

impl Waker {
    pub(crate) fn new(env: sys::napi_env) -> Option<Self> {
        let mut name = ptr::null_mut();
        let mut function = ptr::null_mut();
        let place = Box::into_raw(Box::<Delivery>::new_uninit()).cast::<Delivery>();
        // SAFETY: static text; the context is never freed.
        let status = unsafe {
            sys::napi_create_string_utf8(env, c"smallfry".as_ptr(), 8, &raw mut name);
            sys::napi_create_threadsafe_function(
                env,
                ptr::null_mut(),
                ptr::null_mut(),
                name,
                0,
                1,
                ptr::null_mut(),
                None,
                place.cast(),
                Some(deliver),
                &raw mut function,
            )
        };
        (status == sys::Status::napi_ok).then_some(Self { function, place })
    }

    /// Begins to deliver results, and registers the end of the environment. `complete` and `defer`
    /// are references to functions.
    pub(crate) fn connect(
        self,
        env: sys::napi_env,
        environment: &'static Environment,
        sessions: &'static Sessions,
        [complete, defer]: [sys::napi_ref; 2],
    ) -> &'static Delivery {
        let delivery = Delivery {
            env,
            environment,
            sessions,
            arrived: RefCell::default(),
            ready: RefCell::default(),
            turn: Turn::default(),
            complete,
            defer,
        };
        // SAFETY: `place` is memory for one delivery; hooks run in reverse order, so this one comes
        // before that of the thread-safe function.
        unsafe {
            self.place.write(delivery);
            sys::napi_unref_threadsafe_function(env, self.function);
            sys::napi_add_env_cleanup_hook(env, Some(leave), self.place.cast());
            &*self.place
        }
    }
}

/// Ends the environment: completes the writes that were accepted, and drops everything else.
unsafe extern "C" fn leave(delivery: *mut c_void) {
    // SAFETY: registered with the delivery, which is never freed.
    let delivery = unsafe { &*delivery.cast::<Delivery>() };
    queue::forget_reads(&delivery.environment.mailbox);
    crate::trees::cancel_of(&delivery.environment.mailbox);
    let commits = delivery.sessions.leave(delivery.env);
    delivery.environment.mailbox.close();
    for commit in commits {
        commit.finish();
    }
    // Nobody will ask for the results, and an ended worker should leave no memory behind.
    drop((delivery.arrived.take(), delivery.ready.take()));
    delivery.environment.release();
}

/// `finish()`: waits until every accepted write is done, for runtimes that do not run `atexit`
/// handlers. It also waits until no thread reads, for systems that end threads during their work.
/// The process ends then.
unsafe extern "C" fn finish(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |delivery: &Delivery, []| {
        drop(delivery.sessions.leave(env));
        exit::wait();
        exit::wait_for_reads();
        undefined(env)
    })
}

/// Runs on the environment's thread, in a callback scope of its own, once per wake-up.
unsafe extern "C" fn deliver(
    env: sys::napi_env,
    _function: sys::napi_value,
    context: *mut c_void,
    _data: *mut c_void,
) {
    if env.is_null() {
        return;
    }
    // SAFETY: the context given at creation; it was filled before anything could wake the
    // environment.
    let delivery = unsafe { &*context.cast::<Delivery>() };
    if !delivery.turn.deferred.get() {
        delivery.give_back(env);
    }
}

/// `resume()`: goes on in a new turn of the event loop.
unsafe extern "C" fn resume(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |delivery: &Delivery, []| {
        delivery.turn.deferred.set(false);
        delivery.turn.began.set(None);
        delivery.give_back(env);
        undefined(env)
    })
}

impl Delivery {
    /// Gives back what has arrived, and makes sure that the rest follows.
    fn give_back(&self, env: sys::napi_env) {
        let until = self.turn.until();
        let (finished, sessions) = self.environment.mailbox.take();
        self.arrived.borrow_mut().extend(finished);
        let mut ready = self.ready.take();
        ready.extend(
            sessions
                .into_iter()
                .filter(|id| !ready.contains(id))
                .collect::<Vec<_>>(),
        );
        let unfinished = self.sessions.deliver(env, ready, until);
        self.ready.borrow_mut().extend(unfinished);
        self.give_finished(env);
        if Instant::now() >= until {
            self.defer(env);
        } else if !self.arrived.borrow().is_empty() {
            self.environment.mailbox.wake_again();
        }
    }

    /// Gives finished jobs back, as many as may share a callback scope.
    fn give_finished(&self, env: sys::napi_env) {
        for done in 0..BATCH {
            let next = {
                let mut arrived = self.arrived.borrow_mut();
                match arrived.front() {
                    // A callback gets a scope of its own: microtasks drain before it and after it.
                    Some(next) if next.own_scope && done > 0 => return,
                    Some(_) => arrived.pop_front(),
                    None => return,
                }
            };
            let Some(next) = next else { return };
            let own_scope = next.own_scope;
            self.environment.release_loop(env);
            self.hand_over(env, next);
            if own_scope {
                return;
            }
        }
    }

    /// Has JavaScript call [`resume`] in the next turn of the event loop.
    fn defer(&self, env: sys::napi_env) {
        self.turn.deferred.set(true);
        let function = referenced(env, self.defer);
        let mut result = ptr::null_mut();
        // SAFETY: live handles of this callback scope.
        let status = unsafe {
            sys::napi_call_function(
                env,
                undefined(env),
                function,
                0,
                ptr::null(),
                &raw mut result,
            )
        };
        if status != sys::Status::napi_ok {
            // No JavaScript runs any more in an environment that is ending.
            self.turn.deferred.set(false);
        }
    }

    /// Calls `complete(id, code, value)`. An exception in it is an uncaught one, and delivery goes
    /// on.
    fn hand_over(&self, env: sys::napi_env, finished: Finished) {
        let mut scope = ptr::null_mut();
        // SAFETY: opened and closed in order on this thread; all handles below live inside it.
        unsafe {
            sys::napi_open_handle_scope(env, &raw mut scope);
            let (code, value) = match finished.result {
                Ok(Answer::Nothing) => (0, undefined(env)),
                Ok(Answer::Status(status, as_bigints)) => {
                    self.environment.show_status(&status, as_bigints);
                    (0, undefined(env))
                }
                Ok(Answer::Text(bytes)) => match utf8(env, &bytes) {
                    Some(text) => (0, text),
                    None => (Failure::Delegate.code(), undefined(env)),
                },
                Ok(Answer::Contents(contents)) => {
                    match self.environment.maker.make(env, contents) {
                        Some(made) => (0, made.value),
                        None => (Failure::Delegate.code(), undefined(env)),
                    }
                }
                Ok(Answer::Tree(outcome)) => (0, outcome.value(env)),
                Ok(Answer::Cache(cache)) => (0, number(env, self.environment.caches.put(cache))),
                Err(Reason::Failure(failure)) => (failure.code(), undefined(env)),
                Err(reason) => (DETAILED, reason.value(env)),
            };
            let arguments = [
                number(env, finished.id.cast_signed()),
                number(env, code),
                value,
            ];
            let mut result = ptr::null_mut();
            let status = sys::napi_call_function(
                env,
                undefined(env),
                referenced(env, self.complete),
                arguments.len(),
                arguments.as_ptr(),
                &raw mut result,
            );
            if status == sys::Status::napi_pending_exception {
                let mut exception = ptr::null_mut();
                sys::napi_get_and_clear_last_exception(env, &raw mut exception);
                sys::napi_fatal_exception(env, exception);
            }
            sys::napi_close_handle_scope(env, scope);
        }
    }
}
