//! Results of entries as JavaScript values.

use std::ptr;

use napi_sys as sys;
use smallfry::{Error, Outcome};

use super::task::{Found, Hashed, Wrote};
use crate::contents::Contents;
use crate::environment::Environment;
use crate::errors::{Failure, Step, error_of_entry, error_with_path};
use crate::sys::{EISDIR, is_refused_directory};
use crate::value::{array, number, text};

/// The result of an entry: `true` or `false` for a file written or left alone, or the contents of a
/// file read, or the digest of one. An error is a number, or an array that begins with one
/// (`lib/many.ts` knows them).
pub(super) trait Value {
    /// Entries that have not begun may be dropped when the environment ends.
    const CAN_BE_DROPPED: bool;

    fn value(self, env: sys::napi_env, environment: &Environment) -> Made;
}

/// The value of an entry, and what is counted of it.
pub(super) struct Made {
    pub(super) value: sys::napi_value,
    /// Bytes that were read or written.
    pub(super) bytes: usize,
    /// Bytes of the value that the engine counts as external memory.
    pub(super) external: usize,
    /// The value is an error.
    pub(super) failed: bool,
}

impl Made {
    const fn of(value: sys::napi_value, bytes: usize) -> Self {
        Self {
            value,
            bytes,
            external: 0,
            failed: false,
        }
    }

    const fn failure(value: sys::napi_value) -> Self {
        Self {
            value,
            bytes: 0,
            external: 0,
            failed: true,
        }
    }
}

impl Value for Result<Contents, Error> {
    const CAN_BE_DROPPED: bool = true;

    fn value(self, env: sys::napi_env, environment: &Environment) -> Made {
        let contents = match self {
            Ok(contents) => contents,
            Err(error) if is_refused_directory(&error) => {
                return Made::failure(number(env, Failure::Other(Step::Read, EISDIR).code()));
            }
            Err(error) => return Made::failure(error_of_entry(env, &error)),
        };
        let length = contents.len();
        match environment.maker.make(env, contents) {
            Some(made) => Made {
                external: made.external,
                ..Made::of(made.value, length)
            },
            None => Made::failure(number(env, Failure::Delegate.code())),
        }
    }
}

impl Value for Result<Found, Error> {
    const CAN_BE_DROPPED: bool = true;

    /// Makes `[path, contents]`. JavaScript does not know the path, so every error has it.
    fn value(self, env: sys::napi_env, environment: &Environment) -> Made {
        let Found { path, contents } = match self {
            Ok(found) => found,
            Err(error) => return Made::failure(error_with_path(env, &error)),
        };
        let made = Ok(contents).value(env, environment);
        let file = [text(env, &path.to_string_lossy()), made.value];
        Made {
            value: array(env, &file),
            ..made
        }
    }
}

impl Value for Result<Hashed, Error> {
    const CAN_BE_DROPPED: bool = true;

    /// Makes the digest in hexadecimal digits.
    fn value(self, env: sys::napi_env, _environment: &Environment) -> Made {
        match self {
            Ok(Hashed { digest, length }) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                Made::of(text(env, &digest.to_string()), length)
            }
            Err(error) if is_refused_directory(&error) => {
                Made::failure(number(env, Failure::Other(Step::Read, EISDIR).code()))
            }
            Err(error) => Made::failure(error_of_entry(env, &error)),
        }
    }
}

impl Value for Result<Wrote, Error> {
    const CAN_BE_DROPPED: bool = false;

    fn value(self, env: sys::napi_env, _environment: &Environment) -> Made {
        let Wrote { outcome, length } = match self {
            Ok(wrote) => wrote,
            Err(error) if is_refused_directory(&error) => {
                return Made::failure(number(env, Failure::Other(Step::Open, EISDIR).code()));
            }
            Err(error) => return Made::failure(error_of_entry(env, &error)),
        };
        let is_new = outcome == Outcome::Written;
        let mut value = ptr::null_mut();
        // SAFETY: plain output argument.
        unsafe { sys::napi_get_boolean(env, is_new, &raw mut value) };
        Made::of(value, if is_new { length } else { 0 })
    }
}
