//! The queue of calls that finish later, one for the process, and its threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi_sys as sys;
use smallfry::bulk::Control;

use super::work::Work;
use crate::bounded_queue::BoundedQueue;
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

/// The part of a call that waits or is being done, by which it is found again.
struct Known {
    id: u32,
    mailbox: Arc<Mailbox>,
    control: Control,
}

static QUEUE: BoundedQueue<Call> = BoundedQueue::new(MAX_CALLS, 2 << 20, serve);
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

fn known() -> MutexGuard<'static, Vec<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
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
    known().push(Known {
        id,
        mailbox: Arc::clone(mailbox),
        control,
    });
    QUEUE.push(call);
}

/// The body of a thread. It does the calls that wait, until none do.
fn serve() {
    while let Some(call) = QUEUE.take(VecDeque::pop_front) {
        call.into_iter().for_each(serve_one);
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
    known().retain(|known| known.id != id || !Arc::ptr_eq(&known.mailbox, &mailbox));
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
    for known in &*known() {
        if Arc::ptr_eq(&known.mailbox, mailbox) {
            known.control.cancel();
        }
    }
}

/// Cancels all calls, since the process ends.
pub(crate) fn cancel_all() {
    for known in &*known() {
        known.control.cancel();
    }
}

/// Returns the control of a call that is not done.
pub(super) fn control_of(environment: &Environment, id: u32) -> Option<Control> {
    let all = known();
    let is_it =
        |known: &&Known| known.id == id && Arc::ptr_eq(&known.mailbox, &environment.mailbox);
    all.iter().find(is_it).map(|it| it.control.clone())
}
