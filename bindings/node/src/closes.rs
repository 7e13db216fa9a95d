//! Waits for files that the core closes later, and returns their errors.

use std::ffi::c_void;
use std::ptr;

use napi_sys as napi;
use smallfry::Error;
use smallfry::close::{Closer, Policy};

use crate::environment::{Environment, called};
use crate::errors::error_with_path;
use crate::sys::path_of;
use crate::value::{Function, arguments, array, guarded, int32, number, undefined};

/// The functions that JavaScript calls; `lib/closes.ts` is the caller.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"pendingCloses", pending),
    Function(c"hasCloses", has),
    Function(c"drainCloses", drain),
    Function(c"takeCloseErrors", take_errors),
    Function(c"finishCloses", finish),
    Function(c"waitForCloses", wait),
    Function(c"confirmClose", confirm),
    Function(c"setClosePolicy", set_policy),
];

/// `pendingCloses()`: returns the number of files that wait to be closed or are being closed.
unsafe extern "C" fn pending(
    env: napi::napi_env,
    _info: napi::napi_callback_info,
) -> napi::napi_value {
    let pending = Closer::global().pending();
    number(env, i32::try_from(pending).unwrap_or(i32::MAX))
}

/// `hasCloses()`: returns 1 if [`drain`] has something to wait for or an error to give, else 0.
unsafe extern "C" fn has(env: napi::napi_env, _info: napi::napi_callback_info) -> napi::napi_value {
    let closer = Closer::global();
    let has = closer.pending() > 0 || closer.errors() > 0;
    number(env, has.into())
}

/// `drainCloses()`: waits for all pending closes, and returns the errors since the last call.
unsafe extern "C" fn drain(
    env: napi::napi_env,
    _info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || all_with_paths(env, &Closer::global().drain()))
}

/// `takeCloseErrors()`: returns the errors since the last call, without waiting.
unsafe extern "C" fn take_errors(
    env: napi::napi_env,
    _info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || all_with_paths(env, &Closer::global().take_errors()))
}

fn all_with_paths(env: napi::napi_env, errors: &[Error]) -> napi::napi_value {
    let errors: Vec<_> = errors
        .iter()
        .map(|error| error_with_path(env, error))
        .collect();
    array(env, &errors)
}

/// `finishCloses()`: waits for all pending closes, and keeps the errors for later.
unsafe extern "C" fn finish(
    env: napi::napi_env,
    _info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || {
        Closer::global().wait();
        undefined(env)
    })
}

/// `confirmClose(path)`: waits until no close of a file of that name is pending. Returns the error
/// if one failed, else undefined.
unsafe extern "C" fn confirm(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |environment: &Environment, [path]| {
        let path = path_of(&environment.strings.to_vec(env, path));
        match Closer::global().confirm(path) {
            Ok(()) => undefined(env),
            Err(error) => error_with_path(env, &error),
        }
    })
}

/// `setClosePolicy(policy)`: sets the policy, 0 for auto, 1 for always, 2 for never.
unsafe extern "C" fn set_policy(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || {
        let ([policy], _) = arguments(env, info);
        Closer::global().set_policy(match int32(env, policy) {
            1 => Policy::Always,
            2 => Policy::Never,
            _ => Policy::Auto,
        });
        undefined(env)
    })
}

/// A promise, and the work that fulfils it.
struct Waiting {
    deferred: napi::napi_deferred,
    work: napi::napi_async_work,
}

/// `waitForCloses()`: returns a promise that is fulfilled when all closes are done that are pending
/// now. Returns undefined if the runtime has no thread for that.
unsafe extern "C" fn wait(
    env: napi::napi_env,
    _info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || {
        let mut name = ptr::null_mut();
        let mut promise = ptr::null_mut();
        let waiting = Box::into_raw(Box::new(Waiting {
            deferred: ptr::null_mut(),
            work: ptr::null_mut(),
        }));
        // SAFETY: static text, and output arguments that live long enough: the box goes with the
        // work.
        let queued = unsafe {
            napi::napi_create_string_utf8(env, c"smallfry".as_ptr(), 8, &raw mut name);
            napi::napi_create_promise(env, &raw mut (*waiting).deferred, &raw mut promise);
            napi::napi_create_async_work(
                env,
                ptr::null_mut(),
                name,
                Some(wait_on_thread),
                Some(fulfil),
                waiting.cast(),
                &raw mut (*waiting).work,
            );
            napi::napi_queue_async_work(env, (*waiting).work)
        };
        if queued == napi::Status::napi_ok {
            return promise;
        }
        // SAFETY: it was not queued, so nothing else has it.
        drop(unsafe { Box::from_raw(waiting) });
        undefined(env)
    })
}

unsafe extern "C" fn wait_on_thread(_env: napi::napi_env, _waiting: *mut c_void) {
    Closer::global().wait();
}

unsafe extern "C" fn fulfil(env: napi::napi_env, _status: napi::napi_status, waiting: *mut c_void) {
    // SAFETY: the box that was given to the work, which is done and comes here once.
    let waiting = unsafe { Box::from_raw(waiting.cast::<Waiting>()) };
    // SAFETY: made in this environment, and used once.
    unsafe {
        napi::napi_resolve_deferred(env, waiting.deferred, undefined(env));
        napi::napi_delete_async_work(env, waiting.work);
    }
}
