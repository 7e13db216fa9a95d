//! Trees that are copied or removed in one call.
//!
//! A call that finishes later waits in a queue, whose threads do one call at a time each. More
//! threads help with a large tree, as many as pay. A call that is cancelled, or whose environment
//! or process ends, ends after the entries that were begun.

mod list;

use std::collections::{HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi_sys as sys;
use smallfry::Error;
use smallfry::bulk::{Control, Strategy};
use smallfry::tree::{Copier, Remover, Report, TreeError};
use smallfry_options::OptionBits;

use crate::environment::{Environment, called};
use crate::errors::{Failure, Step, error_with_path};
use crate::mailbox::{Accepted, Answer, Finished, JobResult, Mailbox};
use crate::sys::{EIO, path_of};
use crate::value::{Function, array, double_value, int32, is_string, undefined, utf8};

/// The functions that JavaScript calls; `lib/addon.ts` has their types.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"copyTree", copy_tree),
    Function(c"copyTreeSync", copy_tree_sync),
    Function(c"removeTree", remove_tree),
    Function(c"removeTreeSync", remove_tree_sync),
    Function(c"listTree", list_tree),
    Function(c"listTreeSync", list_tree_sync),
    Function(c"cancelTree", cancel_tree),
    Function(c"treeProgress", tree_progress),
];

/// The maximum number of calls that are done at once. Node's own pool has as many threads, so as
/// many slow disks make progress at once.
const MAX_CALLS: usize = 4;

/// The counts of a call, and the errors of the entries that it left.
pub(crate) struct Outcome {
    report: Report,
    errors: Vec<Error>,
}

impl From<Result<Report, TreeError>> for Outcome {
    fn from(result: Result<Report, TreeError>) -> Self {
        match result {
            Ok(report) => Self {
                report,
                errors: Vec::new(),
            },
            Err(error) => Self {
                report: error.report(),
                errors: error.into_errors(),
            },
        }
    }
}

impl Outcome {
    /// Makes the value that JavaScript gets: `[files, directories, bytes, ...errors]`, each error
    /// as [`error_with_path`] makes it.
    pub(crate) fn value(&self, env: sys::napi_env) -> sys::napi_value {
        let Report {
            files,
            directories,
            bytes,
            ..
        } = self.report;
        let counts = [files, directories, bytes].map(|count| double_value(env, count as f64));
        let errors = self.errors.iter().map(|error| error_with_path(env, error));
        array(env, &counts.into_iter().chain(errors).collect::<Vec<_>>())
    }
}

/// The work of one call.
enum Work {
    Copy(Copier, PathBuf, PathBuf),
    Remove(Remover, PathBuf),
    List(PathBuf),
}

impl Work {
    fn copy(
        env: sys::napi_env,
        environment: &Environment,
        paths: [sys::napi_value; 2],
        bits: sys::napi_value,
        threads: sys::napi_value,
        entries: sys::napi_value,
    ) -> Self {
        let mut copier = OptionBits::new(int32(env, bits)).copier();
        copier.strategy(strategy(env, threads));
        if is_string(env, entries) {
            let entries = environment.strings.to_vec(env, entries);
            let entries: HashSet<PathBuf> = entries.split(|byte| *byte == 0).map(path_of).collect();
            copier.filter(move |path| entries.contains(path));
        }
        let [from, to] = paths.map(|path| path_of(&environment.bytes_of(env, path)));
        Self::Copy(copier, from, to)
    }

    fn remove(
        env: sys::napi_env,
        environment: &Environment,
        path: sys::napi_value,
        bits: sys::napi_value,
        threads: sys::napi_value,
    ) -> Self {
        let mut remover = OptionBits::new(int32(env, bits)).remover();
        remover.strategy(strategy(env, threads));
        Self::Remove(remover, path_of(&environment.bytes_of(env, path)))
    }

    fn run(self, control: &Control) -> JobResult {
        let result = match self {
            Self::Copy(mut copier, from, to) => copier.control(control).copy(from, to),
            Self::Remove(mut remover, path) => remover.control(control).remove(path),
            Self::List(path) => {
                return match list::list(&path) {
                    Ok(listing) => Ok(Answer::Text(listing)),
                    Err(_) => Err(Failure::Delegate.into()),
                };
            }
        };
        Ok(Answer::Tree(Box::new(result.into())))
    }

    /// Does the work at once. Returns the value that JavaScript gets.
    fn run_here(self, env: sys::napi_env) -> sys::napi_value {
        match self.run(&Control::new()) {
            Ok(Answer::Tree(outcome)) => outcome.value(env),
            Ok(Answer::Text(text)) => utf8(env, &text).unwrap_or_else(|| undefined(env)),
            _ => undefined(env),
        }
    }
}

/// Reads the `threads` option; 0 stands for `Auto`.
fn strategy(env: sys::napi_env, threads: sys::napi_value) -> Strategy {
    let threads = usize::try_from(int32(env, threads)).unwrap_or(0);
    NonZeroUsize::new(threads).map_or(Strategy::Auto, Strategy::Threads)
}

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
fn push(env: sys::napi_env, environment: &Environment, id: u32, own_scope: bool, work: Work) {
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
fn control_of(environment: &Environment, id: u32) -> Option<Control> {
    let state = lock();
    let is_it =
        |known: &&Known| known.id == id && Arc::ptr_eq(&known.mailbox, &environment.mailbox);
    state.known.iter().find(is_it).map(|it| it.control.clone())
}

/// `copyTree(from, to, id, ownScope, bits, threads, entries)`. The outcome comes to `complete`.
unsafe extern "C" fn copy_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [from, to, id, own_scope, bits, threads, entries] = values;
        let work = Work::copy(env, environment, [from, to], bits, threads, entries);
        let id = int32(env, id).cast_unsigned();
        push(env, environment, id, int32(env, own_scope) != 0, work);
        undefined(env)
    })
}

/// `copyTreeSync(from, to, bits, threads, entries)`. Returns the outcome.
unsafe extern "C" fn copy_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [from, to, bits, threads, entries] = values;
        let work = Work::copy(env, environment, [from, to], bits, threads, entries);
        work.run_here(env)
    })
}

/// `removeTree(path, id, ownScope, bits, threads)`. The outcome comes to `complete`.
unsafe extern "C" fn remove_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, id, own_scope, bits, threads] = values;
        let work = Work::remove(env, environment, path, bits, threads);
        let id = int32(env, id).cast_unsigned();
        push(env, environment, id, int32(env, own_scope) != 0, work);
        undefined(env)
    })
}

/// `removeTreeSync(path, bits, threads)`. Returns the outcome.
unsafe extern "C" fn remove_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, bits, threads] = values;
        let work = Work::remove(env, environment, path, bits, threads);
        work.run_here(env)
    })
}

/// `listTree(path, id, ownScope)`. The listing comes to `complete`, as [`list::list`] makes it.
unsafe extern "C" fn list_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, id, own_scope] = values;
        let work = Work::List(path_of(&environment.bytes_of(env, path)));
        let id = int32(env, id).cast_unsigned();
        push(env, environment, id, int32(env, own_scope) != 0, work);
        undefined(env)
    })
}

/// `listTreeSync(path)`. Returns the listing; undefined if there is an error.
unsafe extern "C" fn list_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [path]| {
        Work::List(path_of(&environment.bytes_of(env, path))).run_here(env)
    })
}

/// `cancelTree(id)`: begins nothing more for a call.
unsafe extern "C" fn cancel_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [id]| {
        if let Some(control) = control_of(environment, int32(env, id).cast_unsigned()) {
            control.cancel();
        }
        undefined(env)
    })
}

/// `treeProgress(id)`: returns the number of entries that are done and their bytes, as `[entries,
/// bytes]`; undefined once the call is done.
unsafe extern "C" fn tree_progress(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [id]| {
        let Some(control) = control_of(environment, int32(env, id).cast_unsigned()) else {
            return undefined(env);
        };
        let progress = control.progress();
        let counts = [progress.operations, progress.bytes];
        array(env, &counts.map(|count| double_value(env, count as f64)))
    })
}
