//! The queue of calls that finish later, one for the process, and its threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi_sys as sys;
use smallfry::bulk::Control;

use super::work::Work;
use crate::environment::Environment;
use crate::errors::{Failure, Step};
use crate::mailbox::{Accepted, Finished, Mailbox};
use crate::sys::EIO;

/// The maximum number of calls that are done at once. Node's own pool has as many threads, so as
/// many slow disks make progress at once.
const MAX_CALLS: usize = 4;

/// A call that waits or is being done.
struct Call {
    id: u32,
    own_scope: bool,
    mailbox: Arc<Mailbox>,
    control: Control,
    work: Work,
    /// Neither the environment nor the process ends while something is being written.
    _accepted: Accepted,
}

/// The part of a call by which it is found again.
struct Known {
    id: u32,
    mailbox: Arc<Mailbox>,
    control: Control,
}

struct State {
    waiting: VecDeque<Call>,
    /// The calls that wait or are being done.
    known: Vec<Known>,
    threads: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    waiting: VecDeque::new(),
    known: Vec::new(),
    threads: 0,
});

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands in a call. It begins at once unless [`MAX_CALLS`] are being done.
pub(super) fn push(
    env: sys::napi_env,
    environment: &Environment,
    id: u32,
    own_scope: bool,
    work: Work,
) {
    environment.hold_loop(env);
    let mailbox = &environment.mailbox;
    let control = Control::new();
    let call = Call {
        id,
        own_scope,
        mailbox: Arc::clone(mailbox),
        control: control.clone(),
        work,
        _accepted: mailbox.accept(),
    };
    let mut state = lock();
    state.waiting.push_back(call);
    state.known.push(Known {
        id,
        mailbox: Arc::clone(mailbox),
        control,
    });
    if state.threads == MAX_CALLS {
        return;
    }
    state.threads += 1;
    drop(state);
    let thread = std::thread::Builder::new().name("smallfry".into());
    if thread.spawn(serve).is_ok() {
        return;
    }
    let mut state = lock();
    if state.threads > 1 {
        // Another thread takes the call when its own is done.
        state.threads -= 1;
        return;
    }
    drop(state);
    serve();
}

/// The body of a thread. It does the calls that wait, until none do.
fn serve() {
    loop {
        let mut state = lock();
        let Some(call) = state.waiting.pop_front() else {
            state.threads -= 1;
            return;
        };
        drop(state);
        serve_one(call);
    }
}

fn serve_one(call: Call) {
    let Call {
        id,
        own_scope,
        mailbox,
        control,
        work,
        _accepted: accepted,
    } = call;
    let outcome = catch_unwind(AssertUnwindSafe(|| work.run(&control)));
    lock()
        .known
        .retain(|known| known.id != id || !Arc::ptr_eq(&known.mailbox, &mailbox));
    let finished = Finished {
        id,
        own_scope,
        is_write: false,
        // A panic must not leave the caller waiting for ever.
        result: outcome.unwrap_or_else(|_| Err(Failure::Other(Step::Copy, EIO).into())),
    };
    let must_wake = mailbox.put(finished);
    drop(accepted);
    if must_wake {
        mailbox.wake();
    }
}

/// Cancels the calls of an environment that ends.
pub(crate) fn cancel_of(mailbox: &Arc<Mailbox>) {
    for known in &lock().known {
        if Arc::ptr_eq(&known.mailbox, mailbox) {
            known.control.cancel();
        }
    }
}

/// Cancels all calls, since the process ends.
pub(crate) fn cancel_all() {
    for known in &lock().known {
        known.control.cancel();
    }
}

/// Returns the control of a call that is not done.
pub(super) fn control_of(environment: &Environment, id: u32) -> Option<Control> {
    let state = lock();
    let is_it =
        |known: &&Known| known.id == id && Arc::ptr_eq(&known.mailbox, &environment.mailbox);
    state.known.iter().find(is_it).map(|it| it.control.clone())
}
