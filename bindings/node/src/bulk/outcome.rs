//! Results of entries as JavaScript values.

use std::ptr;

use napi_sys as sys;
use smallfry::{Error, Operation, Outcome};

use super::task::{Found, Wrote};
use crate::contents::Contents;
use crate::environment::Environment;
use crate::outcome::{Failure, Step};
use crate::value::{number, set_element};

/// An entry that was not begun, since its batch was stopped. Known to `lib/many.ts`.
const CANCELLED: i32 = -2;

/// What becomes of an entry: `true` or `false` for a file written or left alone, the contents of a file read; a number,
/// or an array of a number and a text, for an error (`lib/many.ts` knows them). Answers the bytes that were moved, too.
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

impl Value for Result<Found, Error> {
    const CAN_BE_DROPPED: bool = true;

    /// A file of a tree is `[path, contents]`; the path is in every error.
    fn value(self, env: sys::napi_env, environment: &Environment) -> (sys::napi_value, usize) {
        let Found { path, contents } = match self {
            Ok(found) => found,
            Err(error) if error.is_cancelled() => return (number(env, CANCELLED), 0),
            Err(error) => return (pair(env, code(&error), &path_or_reason(&error)), 0),
        };
        let length = contents.len();
        let value = environment.maker.make(env, contents);
        let value = value.unwrap_or_else(|| number(env, Failure::Delegate.code()));
        (
            array(env, [text(env, &path.to_string_lossy()), value]),
            length,
        )
    }
}

impl Value for Result<Wrote, Error> {
    const CAN_BE_DROPPED: bool = false;

    fn value(self, env: sys::napi_env, _environment: &Environment) -> (sys::napi_value, usize) {
        let Wrote { outcome, length } = match self {
            Ok(wrote) => wrote,
            Err(error) => return (error_value(env, &error), 0),
        };
        let is_new = outcome == Outcome::Written;
        let mut value = ptr::null_mut();
        // SAFETY: plain output argument.
        unsafe { sys::napi_get_boolean(env, is_new, &raw mut value) };
        (value, if is_new { length } else { 0 })
    }
}

fn error_value(env: sys::napi_env, error: &Error) -> sys::napi_value {
    if error.is_cancelled() {
        return number(env, CANCELLED);
    }
    let is_its_own = !matches!(error.operation(), Operation::Mkdir | Operation::Readdir);
    if error.raw_os_error().is_some() && is_its_own {
        number(env, code(error))
    } else {
        pair(env, code(error), &path_or_reason(error))
    }
}

/// The step in the upper half and errno in the lower, as a [`Failure`] has it; the step alone if there is no errno.
fn code(error: &Error) -> i32 {
    let step = match error.operation() {
        Operation::Fstat => Step::Status,
        Operation::Read => Step::Read,
        Operation::Write => Step::Write,
        Operation::Close => Step::Close,
        Operation::Mkdir => Step::Mkdir,
        Operation::Readdir => Step::Readdir,
        Operation::Stat => Step::Stat,
        _ => Step::Open,
    };
    match error.raw_os_error() {
        Some(errno) => (step as i32) << 16 | errno,
        None => step as i32,
    }
}

/// What JavaScript is told beside the code: the path, or the whole reason where no errno says it.
fn path_or_reason(error: &Error) -> String {
    match error.path() {
        Some(path) if error.raw_os_error().is_some() => path.to_string_lossy().into_owned(),
        _ => error.to_string(),
    }
}

/// The values of an error that `lib/many.ts` cannot tell by a number alone. The wrapping number sets it apart from a file
/// of a tree.
pub(super) fn pair(env: sys::napi_env, code: i32, reason: &str) -> sys::napi_value {
    array(env, [number(env, code), text(env, reason)])
}

/// The error of a call that could not begin.
pub(super) fn refusal(env: sys::napi_env, error: &Error) -> sys::napi_value {
    pair(env, code(error), &path_or_reason(error))
}

fn text(env: sys::napi_env, text: &str) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the text is copied.
    unsafe {
        let length = text.len().cast_signed();
        sys::napi_create_string_utf8(env, text.as_ptr().cast(), length, &raw mut value);
    }
    value
}

fn array(env: sys::napi_env, values: [sys::napi_value; 2]) -> sys::napi_value {
    let mut array = ptr::null_mut();
    // SAFETY: plain output argument.
    unsafe { sys::napi_create_array_with_length(env, values.len(), &raw mut array) };
    for (index, value) in values.into_iter().enumerate() {
        set_element(env, array, index, value);
    }
    array
}
