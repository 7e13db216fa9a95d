//! Between JavaScript and the queue: handing jobs in, and giving results back on the right thread.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use napi_sys as sys;

use super::client::{Client, Finished};
use super::exit;
use super::queue::{self, Job};
use super::task::{Task, Whole, Write};
use super::together::{self, Call, Manner};
use crate::bulk;
use crate::durable::Durable;
use crate::environment::{Environment, called};
use crate::outcome::{Failure, Reason};
use crate::sys::path_of;
use crate::target::{OwnedTarget, PathRoom, Target};
use crate::value::{int32, number, referenced, undefined};

/// The code of a result whose value tells what went wrong. Known to `lib/requests.ts`.
const DETAILED: i32 = -3;
/// Results given back in one callback scope.
const BATCH: usize = 256;
/// How long results are given back before the event loop may look at other things.
const TURN: Duration = Duration::from_millis(2);

/// How far the event loop is kept from other things. Waking it from its own callback does not let them in: Node then runs
/// the callback again, up to a thousand times.
#[derive(Default)]
pub(crate) struct Turn {
    /// When this turn began.
    began: Cell<Option<Instant>>,
    /// JavaScript will call [`again`] in the next one; nothing is given back before.
    resting: Cell<bool>,
}

/// `read(target, id, alone, utf8)`: answers undefined, or the number of a [`Failure`] if the call was not taken.
pub(crate) unsafe extern "C" fn submit_read(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, [target, id, alone, utf8]| {
        submit(env, environment, target, id, alone, |target, together| {
            Task::read(target, int32(env, utf8) != 0, together)
        })
    })
}

/// `write(target, id, alone, data, flags, mode)`: as [`submit_read`]. The data are copied before it returns.
pub(crate) unsafe extern "C" fn submit_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [target, id, alone, data, flags, mode] = values;
        submit(env, environment, target, id, alone, |target, _| {
            let bytes = environment.bytes_of(env, data);
            let lent = matches!(target, OwnedTarget::Descriptor(_));
            let with_callback = int32(env, alone) != 0;
            let (flags, mode) = (int32(env, flags), int32(env, mode).cast_unsigned());
            Task::Write(
                Write::new(target, flags, mode, bytes)
                    .writing_nothing(with_callback && (lent || environment.writes_nothing)),
            )
        })
    })
}

/// `writeDurably(target, id, alone, data, flags, mode, durable)`: as [`submit_write`], and makes it last as `durable` says.
pub(crate) unsafe extern "C" fn submit_durable_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [target, id, alone, data, flags, mode, durable] = values;
        let durable = Durable::of(int32(env, durable));
        let (flags, mode) = (int32(env, flags), int32(env, mode).cast_unsigned());
        let mut room = PathRoom::new();
        let target = match Target::read(env, &environment.strings, target, &mut room) {
            Ok(target) => target.to_owned(),
            Err(failure) => return number(env, failure.code()),
        };
        let write = durable.write_of(flags, mode);
        if durable.replace && (write.is_none() || matches!(target, OwnedTarget::Descriptor(_))) {
            return number(env, Failure::Delegate.code());
        }
        let bytes = environment.bytes_of(env, data);
        hold_loop(env, environment);
        let (id, alone) = (int32(env, id).cast_unsigned(), int32(env, alone) != 0);
        let client = Arc::clone(&environment.client);
        let task = match (target, write) {
            (OwnedTarget::Path(path), Some(write)) => {
                let path = path_of(path.as_bytes());
                match Manner::of(durable, flags, mode) {
                    Some(manner) if bytes.len() <= together::LARGEST => {
                        together::push(Call {
                            id,
                            alone,
                            client,
                            path,
                            bytes,
                            manner,
                        });
                        return undefined(env);
                    }
                    _ => Task::Whole(Whole { write, path, bytes }),
                }
            }
            (target, _) => {
                let always = alone && matches!(target, OwnedTarget::Descriptor(_));
                let writes_nothing = always || alone && environment.writes_nothing;
                let write = Write::new(target, flags, mode, bytes);
                Task::Write(write.writing_nothing(writes_nothing).lasting(durable))
            }
        };
        queue::push(Job {
            id,
            alone,
            client,
            task,
        });
        undefined(env)
    })
}

/// `finish()`: the process ends. Returns when every accepted write is done, for runtimes that end without running `atexit`
/// handlers, and when no thread reads any more, for systems that end threads in the middle of what they do.
pub(crate) unsafe extern "C" fn finish(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, []| {
        drop(bulk::forget(environment));
        exit::wait();
        exit::wait_for_reads();
        undefined(env)
    })
}

fn submit(
    env: sys::napi_env,
    environment: &Environment,
    target: sys::napi_value,
    id: sys::napi_value,
    alone: sys::napi_value,
    task: impl FnOnce(OwnedTarget, bool) -> Task,
) -> sys::napi_value {
    let mut room = PathRoom::new();
    let target = match Target::read(env, &environment.strings, target, &mut room) {
        Ok(target) => target.to_owned(),
        Err(failure) => return number(env, failure.code()),
    };
    let together = hold_loop(env, environment);
    let job = Job {
        id: int32(env, id).cast_unsigned(),
        alone: int32(env, alone) != 0,
        client: Arc::clone(&environment.client),
        task: task(target, together),
    };
    queue::push(job);
    undefined(env)
}

/// Keeps the event loop alive from the first pending job to the last. True if there were others.
pub(crate) fn hold_loop(env: sys::napi_env, environment: &Environment) -> bool {
    let pending = environment.pending.get();
    if pending == 0 {
        // SAFETY: on the environment's own thread, before it goes away.
        unsafe { sys::napi_ref_threadsafe_function(env, environment.waker) };
    }
    environment.pending.set(pending + 1);
    pending > 0
}

/// One job less.
pub(crate) fn release_loop(env: sys::napi_env, environment: &Environment) {
    let pending = environment.pending.get() - 1;
    environment.pending.set(pending);
    if pending == 0 {
        // SAFETY: as in `hold_loop`.
        unsafe { sys::napi_unref_threadsafe_function(env, environment.waker) };
    }
}

/// Makes the mailbox of a new environment and registers its end. `build` gets the mailbox and its waker and makes the
/// environment.
pub(crate) fn attach(
    env: sys::napi_env,
    build: impl FnOnce(Arc<Client>, sys::napi_threadsafe_function) -> Environment,
) -> Option<*mut Environment> {
    let mut name = ptr::null_mut();
    let mut waker = ptr::null_mut();
    // The function needs its context before the environment exists: a box that is filled below.
    let place = Box::into_raw(Box::<Environment>::new_uninit());
    // SAFETY: static text; the context outlives the function, which is released by the environment's own clean-up.
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
            &raw mut waker,
        )
    };
    if status != sys::Status::napi_ok {
        return None;
    }
    let environment = place.cast::<Environment>();
    // SAFETY: `place` is memory for one environment; hooks run in reverse order, so this one comes before that of the
    // thread-safe function.
    unsafe {
        environment.write(build(Arc::new(Client::new(waker)), waker));
        sys::napi_unref_threadsafe_function(env, waker);
        sys::napi_add_env_cleanup_hook(env, Some(leave), environment.cast());
    }
    Some(environment)
}

/// The environment ends: finish what was accepted, want nothing more.
unsafe extern "C" fn leave(environment: *mut c_void) {
    // SAFETY: registered with the environment, which is never freed before.
    let environment = unsafe { Environment::borrow(environment) };
    queue::forget_reads(&environment.client);
    let commits = bulk::forget(environment);
    environment.package_json.leave();
    environment.client.leave();
    for commit in commits {
        commit.finish();
    }
}

impl Turn {
    /// When this turn is to end. What comes soon after the last results belongs to the same turn, as it may come from the
    /// same round of Node's.
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
    // SAFETY: the context given at creation.
    let environment = unsafe { Environment::borrow(context) };
    if !environment.turn.resting.get() {
        give_back(env, environment);
    }
}

/// Goes on in a new turn of the event loop.
pub(crate) fn again(env: sys::napi_env, environment: &Environment) {
    environment.turn.resting.set(false);
    environment.turn.began.set(None);
    give_back(env, environment);
}

/// Gives back what has arrived, and sees to it that the rest follows.
fn give_back(env: sys::napi_env, environment: &Environment) {
    let until = environment.turn.until();
    let (finished, sessions) = environment.client.take();
    environment.arrived.borrow_mut().extend(finished);
    let mut ready = environment.ready.take();
    ready.extend(
        sessions
            .into_iter()
            .filter(|id| !ready.contains(id))
            .collect::<Vec<_>>(),
    );
    let unfinished = bulk::deliver(env, environment, ready, until);
    environment.ready.borrow_mut().extend(unfinished);
    give_finished(env, environment);
    if Instant::now() >= until {
        rest(env, environment);
    } else if !environment.arrived.borrow().is_empty() {
        environment.client.wake_again();
    }
}

/// Gives finished jobs back, as many as may share a callback scope.
fn give_finished(env: sys::napi_env, environment: &Environment) {
    for done in 0..BATCH {
        let next = {
            let mut arrived = environment.arrived.borrow_mut();
            match arrived.front() {
                // A callback gets a scope of its own: microtasks drain before it and after it.
                Some(next) if next.alone && done > 0 => return,
                Some(_) => arrived.pop_front(),
                None => return,
            }
        };
        let Some(next) = next else { return };
        let alone = next.alone;
        release_loop(env, environment);
        hand_over(env, environment, next);
        if alone {
            return;
        }
    }
}

/// Has JavaScript call [`again`] in the next turn of the event loop.
fn rest(env: sys::napi_env, environment: &Environment) {
    environment.turn.resting.set(true);
    let function = referenced(env, environment.rest.get());
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
        // No JavaScript runs any more in an environment that is being ended.
        environment.turn.resting.set(false);
    }
}

/// Calls `complete(id, code, value)`; what it throws is an uncaught exception, and the rest goes on.
fn hand_over(env: sys::napi_env, environment: &Environment, finished: Finished) {
    let mut scope = ptr::null_mut();
    // SAFETY: opened and closed in order on this thread; all handles below live inside it.
    unsafe {
        sys::napi_open_handle_scope(env, &raw mut scope);
        let (code, value) = match finished.result {
            Ok(None) => (0, undefined(env)),
            Ok(Some(contents)) => match environment.maker.make(env, contents) {
                Some(value) => (0, value),
                None => (Failure::Delegate.code(), undefined(env)),
            },
            Err(Reason::Failure(failure)) => (failure.code(), undefined(env)),
            Err(reason) => (DETAILED, reason.value(env)),
        };
        let mut complete = ptr::null_mut();
        sys::napi_get_reference_value(env, environment.complete.get(), &raw mut complete);
        let arguments = [
            number(env, finished.id.cast_signed()),
            number(env, code),
            value,
        ];
        let mut result = ptr::null_mut();
        let status = sys::napi_call_function(
            env,
            undefined(env),
            complete,
            3,
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
