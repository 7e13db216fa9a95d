//! Calls for paths that need no other thread, since the kernel answers from its memory.

use napi_sys as sys;
use smallfry::close::Closer;

use super::metadata::{operation, step_of};
use super::queue;
use crate::environment::{Environment, called};
use crate::errors::Failure;
use crate::sys::{Cached, look_up};
use crate::target::{PathRoom, Target};
use crate::value::{Function, int32, number, undefined};

/// The function that JavaScript calls.
pub(crate) const FUNCTIONS: &[Function] = &[Function(c"lookUp", answer)];

/// `lookUp(path, operation, mode)`: does `access`, `stat` or `lstat`. Answers undefined if a job
/// has to do it, 0, or the number of a [`Failure`]. The status is in the array for it.
unsafe extern "C" fn answer(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, which, mode] = values;
        // A call that waits for others has to be a job.
        if queue::is_in_order() || Closer::global().pending() > 0 {
            return undefined(env);
        }
        let mut room = PathRoom::new();
        let Ok(Target::Path(path)) = Target::read(env, &environment.strings, path, &mut room)
        else {
            return undefined(env);
        };
        let Some(operation) = operation(int32(env, which)) else {
            return undefined(env);
        };
        match look_up(path, operation, int32(env, mode).cast_unsigned()) {
            Ok(None) => return undefined(env),
            Ok(Some(Cached::Yes)) => {}
            Ok(Some(Cached::Status(status))) => environment.show_status(&status, false),
            Err(errno) => {
                return number(env, Failure::System(step_of(operation), errno).code());
            }
        }
        number(env, 0)
    })
}
