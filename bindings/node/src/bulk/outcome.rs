//! Results of entries as JavaScript values.

use std::ptr;

use napi_sys as sys;
use smallfry::{Error, Operation, Outcome};

use crate::contents::Contents;
use crate::environment::Environment;
use crate::outcome::{Failure, Step};
use crate::value::{number, set_element};

/// An entry that was not begun, since its batch was stopped. Known to `lib/bulk.ts`.
const CANCELLED: i32 = -2;

/// What becomes of an entry: `true` or `false` for a file written or left alone, the contents of a file read; a number,
/// or an array of a number and a text, for an error (`lib/bulk.ts` knows them). Answers the bytes that were moved, too.
pub(super) trait Value {
    /// Nothing is lost with what has not begun when nobody wants results any more.
    const CAN_BE_DROPPED: bool;

    fn value(self, env: sys::napi_env, environment: &Environment) -> (sys::napi_value, usize);
}

impl Value for Result<Contents, Error> {
    const CAN_BE_DROPPED: bool = true;

    fn value(self, env: sys::napi_env, environment: &Environment) -> (sys::napi_value, usize) {
        match self {
            Ok(contents) => {
                let length = contents.len();
                let value = environment.maker.make(env, contents);
                let value = value.unwrap_or_else(|| number(env, Failure::Delegate.code()));
                (value, length)
            }
            Err(error) => (error_value(env, &error), 0),
        }
    }
}

impl Value for Result<Outcome, Error> {
    const CAN_BE_DROPPED: bool = false;

    fn value(self, env: sys::napi_env, _environment: &Environment) -> (sys::napi_value, usize) {
        let mut value = ptr::null_mut();
        match self {
            // SAFETY: plain output argument.
            Ok(outcome) => unsafe {
                sys::napi_get_boolean(env, outcome == Outcome::Written, &raw mut value);
            },
            Err(error) => value = error_value(env, &error),
        }
        (value, 0)
    }
}

fn error_value(env: sys::napi_env, error: &Error) -> sys::napi_value {
    if error.is_cancelled() {
        return number(env, CANCELLED);
    }
    let step = match error.operation() {
        Operation::Fstat => Step::Status,
        Operation::Read => Step::Read,
        Operation::Write => Step::Write,
        Operation::Close => Step::Close,
        Operation::Mkdir => Step::Mkdir,
        Operation::Readdir => Step::Readdir,
        _ => Step::Open,
    };
    let Some(errno) = error.raw_os_error() else {
        return pair(env, step as i32, &error.to_string());
    };
    let code = (step as i32) << 16 | errno;
    match (step, error.path()) {
        // It is not the entry's own path.
        (Step::Mkdir | Step::Readdir, Some(path)) => pair(env, code, &path.to_string_lossy()),
        _ => number(env, code),
    }
}

fn pair(env: sys::napi_env, code: i32, text: &str) -> sys::napi_value {
    let (mut array, mut string) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: plain output arguments; the text is copied.
    unsafe {
        sys::napi_create_array_with_length(env, 2, &raw mut array);
        sys::napi_create_string_utf8(
            env,
            text.as_ptr().cast(),
            text.len().cast_signed(),
            &raw mut string,
        );
    }
    set_element(env, array, 0, number(env, code));
    set_element(env, array, 1, string);
    array
}
