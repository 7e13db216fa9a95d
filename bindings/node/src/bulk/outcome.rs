//! Results of entries as JavaScript values.

use std::io::ErrorKind;
use std::ptr;

use napi_sys as sys;
use smallfry::{Error, Operation, Outcome};

use super::task::{Found, Wrote};
use crate::contents::Contents;
use crate::environment::Environment;
use crate::outcome::{Failure, Step};
use crate::sys::{EIO, EISDIR, ELOOP, ENOMEM, ENOTDIR, is_refused_directory, node_errno};
use crate::value::{array, number, text, undefined};

/// An entry that was not begun, since its batch was stopped. Known to `lib/many.ts`.
const CANCELLED: i32 = -2;

/// Why an entry was refused though no system call failed. Known to `lib/many.ts`.
const TOO_LARGE: i32 = 1;
const REFUSED: i32 = 2;

/// What becomes of an entry: `true` or `false` for a file written or left alone, the contents of a file read; a number,
/// or an array that begins with a number, for an error (`lib/many.ts` knows them).
pub(super) trait Value {
    /// Nothing is lost with what has not begun when nobody wants results any more.
    const CAN_BE_DROPPED: bool;

    fn value(self, env: sys::napi_env, environment: &Environment) -> Made;
}

/// The value of an entry's result.
pub(super) struct Made {
    pub(super) value: sys::napi_value,
    /// That were moved.
    pub(super) bytes: usize,
    /// The value says why there is none.
    pub(super) failed: bool,
}

impl Made {
    const fn of(value: sys::napi_value, bytes: usize) -> Self {
        Self {
            value,
            bytes,
            failed: false,
        }
    }

    const fn failure(value: sys::napi_value) -> Self {
        Self {
            value,
            bytes: 0,
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
            Err(error) => return Made::failure(error_value(env, &error)),
        };
        let length = contents.len();
        match environment.maker.make(env, contents) {
            Some(value) => Made::of(value, length),
            None => Made::failure(number(env, Failure::Delegate.code())),
        }
    }
}

impl Value for Result<Found, Error> {
    const CAN_BE_DROPPED: bool = true;

    /// A file of a tree is `[path, contents]`; the path is in every error.
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

impl Value for Result<Wrote, Error> {
    const CAN_BE_DROPPED: bool = false;

    fn value(self, env: sys::napi_env, _environment: &Environment) -> Made {
        let Wrote { outcome, length } = match self {
            Ok(wrote) => wrote,
            Err(error) if is_refused_directory(&error) => {
                return Made::failure(number(env, Failure::Other(Step::Open, EISDIR).code()));
            }
            Err(error) => return Made::failure(error_value(env, &error)),
        };
        let is_new = outcome == Outcome::Written;
        let mut value = ptr::null_mut();
        // SAFETY: plain output argument.
        unsafe { sys::napi_get_boolean(env, is_new, &raw mut value) };
        Made::of(value, if is_new { length } else { 0 })
    }
}

/// An error of an entry whose path JavaScript knows.
fn error_value(env: sys::napi_env, error: &Error) -> sys::napi_value {
    // Others may be of a directory, or of two files.
    let is_of_entry = matches!(
        error.operation(),
        Operation::Open
            | Operation::Read
            | Operation::Write
            | Operation::Close
            | Operation::Fstat
            | Operation::Stat
    );
    match errno(error) {
        Some(errno) if is_of_entry => number(env, code(error.operation(), errno)),
        _ => error_with_path(env, error),
    }
}

/// An error of which JavaScript has to be told the path: `[code, path]` where the system has a number for it, and
/// `[code, path, undefined, destination]` if it has a second one; else `[reason, path, text]`.
pub(crate) fn error_with_path(env: sys::napi_env, error: &Error) -> sys::napi_value {
    if error.is_cancelled() {
        return number(env, CANCELLED);
    }
    let path = error
        .path()
        .map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    let path = text(env, &path);
    if let Some(errno) = errno(error) {
        let code = number(env, code(error.operation(), errno));
        let Some(destination) = error.destination() else {
            return array(env, &[code, path]);
        };
        let destination = text(env, &destination.to_string_lossy());
        return array(env, &[code, path, undefined(env), destination]);
    }
    let reason = match error.kind() {
        ErrorKind::FileTooLarge => TOO_LARGE,
        _ => REFUSED,
    };
    array(
        env,
        &[number(env, reason), path, text(env, &error.to_string())],
    )
}

/// Node's number for the system's, also of what the core finds out without asking the system.
fn errno(error: &Error) -> Option<i32> {
    // Windows has one number for a directory that is none and for one that is missing, and libuv tells them apart.
    if error.operation() == Operation::Readdir && error.kind() == ErrorKind::NotADirectory {
        return Some(ENOTDIR);
    }
    if error.operation() == Operation::Readlink && error.kind() == ErrorKind::InvalidInput {
        return Some(ELOOP);
    }
    error.raw_os_error().map(node_errno).or(match error.kind() {
        ErrorKind::NotADirectory => Some(ENOTDIR),
        ErrorKind::IsADirectory => Some(EISDIR),
        ErrorKind::OutOfMemory => Some(ENOMEM),
        // As for single calls: see `Failure::code`.
        ErrorKind::WriteZero => Some(EIO),
        _ => None,
    })
}

/// The step in the upper half and errno in the lower, as a [`Failure`] has it.
fn code(operation: Operation, errno: i32) -> i32 {
    let step = match operation {
        Operation::Fstat => Step::Status,
        Operation::Read => Step::Read,
        Operation::Write => Step::Write,
        Operation::Close => Step::Close,
        Operation::Mkdir => Step::Mkdir,
        Operation::Readdir => Step::Readdir,
        Operation::Stat => Step::Stat,
        Operation::Fsync => Step::Fsync,
        Operation::Fdatasync => Step::Fdatasync,
        Operation::Syncfs => Step::Syncfs,
        Operation::Readlink => Step::Readlink,
        Operation::Fchmod => Step::Fchmod,
        Operation::Fchown => Step::Fchown,
        Operation::Fsetxattr => Step::Fsetxattr,
        Operation::Rename => Step::Rename,
        Operation::Copy => Step::Copy,
        Operation::Unlink => Step::Unlink,
        _ => Step::Open,
    };
    (step as i32) << 16 | errno
}
