//! The functions by which JavaScript hands in jobs.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use napi_sys as sys;
use smallfry_options::OptionBits;

use super::group_commit::{self, Call, WriteKind};
use super::metadata::Metadata;
use super::queue::{self, Job};
use super::task::{Task, Whole, Write};
use crate::durable::{CoreWrite, DurableWrite};
use crate::environment::{Environment, called};
use crate::errors::Failure;
use crate::sys::path_of;
use crate::target::{OwnedTarget, PathRoom, Target};
use crate::value::{Function, double, int32, number, undefined};

/// Each returns undefined if the call was taken, else the number of a [`Failure`]. The results come
/// to `complete`.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"read", submit_read),
    Function(c"write", submit_write),
    Function(c"writeDurably", submit_durable_write),
    Function(c"metadata", submit_metadata),
    Function(c"setStatusArray", set_status_array),
];

/// The arguments that all of these calls have.
struct Submitted {
    target: sys::napi_value,
    id: sys::napi_value,
    own_scope: sys::napi_value,
}

/// `read(target, id, ownScope, utf8)`.
unsafe extern "C" fn submit_read(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [target, id, own_scope, utf8] = values;
        let call = Submitted {
            target,
            id,
            own_scope,
        };
        submit(env, environment, &call, |target, shares_memory| {
            Task::read(target, int32(env, utf8) != 0, shares_memory)
        })
    })
}

/// `write(target, id, ownScope, data, flags, mode)`. The data are copied before it returns.
unsafe extern "C" fn submit_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [target, id, own_scope, data, flags, mode] = values;
        let call = Submitted {
            target,
            id,
            own_scope,
        };
        submit(env, environment, &call, |target, _| {
            let bytes = environment.bytes_of(env, data);
            let writes_nothing = writes_nothing(environment, &target, int32(env, own_scope) != 0);
            let (flags, mode) = (int32(env, flags), int32(env, mode).cast_unsigned());
            let write = Write::new(target, flags, mode, bytes);
            Task::Write(write.writing_nothing(writes_nothing))
        })
    })
}

/// `metadata(path, id, ownScope, operation, number, other)`. The numbers are those of
/// [`Metadata::new`].
unsafe extern "C" fn submit_metadata(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [target, id, own_scope, operation, first, other] = values;
        let operation = int32(env, operation);
        let numbers = [double(env, first), double(env, other)];
        let made = path(env, environment, target)
            .and_then(|path| Metadata::new(operation, path, numbers).ok_or(Failure::Delegate));
        let metadata = match made {
            Ok(metadata) => metadata,
            Err(failure) => return number(env, failure.code()),
        };
        environment.hold_loop(env);
        put(
            env,
            environment,
            [id, own_scope],
            Task::Metadata(Box::new(metadata)),
        )
    })
}

/// Puts a task on the queue, with the number of its request. Returns undefined.
pub(super) fn put(
    env: sys::napi_env,
    environment: &Environment,
    [id, own_scope]: [sys::napi_value; 2],
    task: Task,
) -> sys::napi_value {
    queue::push(Job {
        id: int32(env, id).cast_unsigned(),
        own_scope: int32(env, own_scope) != 0,
        mailbox: Arc::clone(&environment.mailbox),
        task,
    });
    undefined(env)
}

/// Copies a path.
pub(super) fn path(
    env: sys::napi_env,
    environment: &Environment,
    value: sys::napi_value,
) -> Result<CString, Failure> {
    let mut room = PathRoom::new();
    match Target::read(env, &environment.strings, value, &mut room)?.to_owned() {
        OwnedTarget::Path(path) => Ok(path),
        OwnedTarget::Descriptor(_) => Err(Failure::Delegate),
    }
}

/// `setStatusArray(array)`: sets the array in which `complete` finds the status of a file.
unsafe extern "C" fn set_status_array(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [array]| {
        environment.set_status_array(env, array);
        undefined(env)
    })
}

/// Tells whether node:fs calls `write` even for no bytes: some versions do for a path, all do for a
/// descriptor, and only where there is a callback.
fn writes_nothing(environment: &Environment, target: &OwnedTarget, has_callback: bool) -> bool {
    let is_lent = matches!(target, OwnedTarget::Descriptor(_));
    has_callback && (is_lent || environment.writes_nothing)
}

/// `writeDurably(target, id, ownScope, data, flags, mode, bits)`: does what [`submit_write`] does,
/// with option bits.
unsafe extern "C" fn submit_durable_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [target, id, own_scope, data, flags, mode, bits] = values;
        let (id, own_scope) = (int32(env, id).cast_unsigned(), int32(env, own_scope) != 0);
        let write = DurableWrite {
            bits: OptionBits::new(int32(env, bits)),
            flags: int32(env, flags),
            mode: int32(env, mode).cast_unsigned(),
        };
        let destination = match destination(env, environment, target, write) {
            Ok(destination) => destination,
            Err(failure) => return number(env, failure.code()),
        };
        let bytes = environment.bytes_of(env, data);
        environment.hold_loop(env);
        let mailbox = Arc::clone(&environment.mailbox);
        let task = match destination {
            Destination::Core(path, by_core) => match WriteKind::of(write) {
                Some(kind) if bytes.len() <= group_commit::MAX_SIZE => {
                    group_commit::push(Call {
                        id,
                        own_scope,
                        mailbox,
                        path,
                        bytes,
                        kind,
                    });
                    return undefined(env);
                }
                _ => Task::Whole(Whole {
                    write: by_core,
                    path,
                    bytes,
                }),
            },
            Destination::Open(target) => {
                let writes_nothing = writes_nothing(environment, &target, own_scope);
                let task = Write::new(target, write.flags, write.mode, bytes);
                let task = task.writing_nothing(writes_nothing);
                Task::Write(task.flushing(write.bits.flush()))
            }
        };
        queue::push(Job {
            id,
            own_scope,
            mailbox,
            task,
        });
        undefined(env)
    })
}

/// The destination of a durable write.
enum Destination {
    /// A path, which the core writes.
    Core(PathBuf, CoreWrite),
    /// A file that is opened here, or was opened by the caller. It is flushed here.
    Open(OwnedTarget),
}

fn destination(
    env: sys::napi_env,
    environment: &Environment,
    target: sys::napi_value,
    write: DurableWrite,
) -> Result<Destination, Failure> {
    let by_core = write.by_core();
    if write.replaces() {
        // The core takes paths of any length.
        let path = path_of(&environment.bytes_of(env, target));
        return by_core
            .map(|by_core| Destination::Core(path, by_core))
            .ok_or(Failure::Delegate);
    }
    let mut room = PathRoom::new();
    let target = Target::read(env, &environment.strings, target, &mut room)?;
    Ok(match (target.to_owned(), by_core) {
        (OwnedTarget::Path(path), Some(by_core)) => {
            Destination::Core(path_of(path.as_bytes()), by_core)
        }
        (target, _) => Destination::Open(target),
    })
}

fn submit(
    env: sys::napi_env,
    environment: &Environment,
    call: &Submitted,
    task: impl FnOnce(OwnedTarget, bool) -> Task,
) -> sys::napi_value {
    let mut room = PathRoom::new();
    let target = match Target::read(env, &environment.strings, call.target, &mut room) {
        Ok(target) => target.to_owned(),
        Err(failure) => return number(env, failure.code()),
    };
    let has_others = environment.hold_loop(env);
    put(
        env,
        environment,
        [call.id, call.own_scope],
        task(target, has_others),
    )
}
