//! Errors on their way to JavaScript: numbers and arrays, since making an error object takes long.
//!
//! `lib/errors.ts` and `lib/many.ts` know all of these numbers.

use std::io::ErrorKind;

use napi_sys as sys;
use smallfry::raw::Errno;
use smallfry::{Error, Operation};

use crate::sys::{
    EIO, EISDIR, ELOOP, ENOMEM, ENOTDIR, is_for_runtime, is_refused_directory, node_errno,
};
use crate::value::{array, number, text, undefined};

/// The number for an entry that was not begun, since its batch was stopped.
const CANCELLED: i32 = -2;

/// Why an entry was refused although no system call failed.
const TOO_LARGE: i32 = 1;
const REFUSED: i32 = 2;

/// The system call that failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Open = 1,
    Status = 2,
    Read = 3,
    Write = 4,
    Close = 5,
    Mkdir = 6,
    Readdir = 7,
    Stat = 8,
    Fsync = 9,
    Fdatasync = 10,
    Syncfs = 11,
    Readlink = 12,
    Fchmod = 13,
    Fchown = 14,
    Fsetxattr = 15,
    Rename = 16,
    Copy = 17,
    Unlink = 18,
    Access = 19,
    Lstat = 20,
    Realpath = 21,
    Chmod = 22,
    Utime = 23,
    Symlink = 24,
    Link = 25,
}

/// Why a call did not succeed.
#[derive(Clone, Copy)]
pub(crate) enum Failure {
    /// Nothing was done, and node:fs is to do it: a path with NUL, a file too large for one string.
    Delegate,
    /// A system call failed.
    System(Step, Errno),
    /// Something failed without a system call; the number is Node's.
    Other(Step, i32),
}

impl Failure {
    /// Returns the number that JavaScript gets: -1 for [`Failure::Delegate`], else the step in the
    /// upper half and Node's errno, without its sign, in the lower.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Delegate => -1,
            // A write that takes nothing has no errno of its own; Node would repeat it for ever.
            Self::System(step, Errno::NOTHING_WRITTEN) => coded(step, EIO),
            Self::System(step, errno) => coded(step, node_errno(errno.0)),
            Self::Other(step, errno) => coded(step, errno),
        }
    }
}

/// Returns a function that turns an errno into a [`Failure`] of `step`.
pub(crate) fn at(step: Step) -> impl Fn(Errno) -> Failure {
    move |errno| Failure::System(step, errno)
}

/// Turns the errno of an `open` into a [`Failure`].
pub(crate) fn at_open(errno: Errno) -> Failure {
    if is_for_runtime(errno) {
        Failure::Delegate
    } else {
        Failure::System(Step::Open, errno)
    }
}

/// A [`Failure`], or an error of the core with its paths.
pub(crate) enum Reason {
    Failure(Failure),
    Error(Error),
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Reason {
    /// Makes the value that JavaScript gets: the number of a [`Failure`], or an error as
    /// [`error_with_path`] makes it.
    pub(crate) fn value(&self, env: sys::napi_env) -> sys::napi_value {
        match self {
            Self::Failure(failure) => number(env, failure.code()),
            Self::Error(error) if is_refused_directory(error) => {
                number(env, Failure::Other(Step::Open, EISDIR).code())
            }
            Self::Error(error) => error_with_path(env, error),
        }
    }
}

/// Makes the value for an error of an entry, whose path JavaScript knows.
pub(crate) fn error_of_entry(env: sys::napi_env, error: &Error) -> sys::napi_value {
    // Other operations may be about a directory, or about two files.
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
        Some(errno) if is_of_entry => number(env, coded(step_of(error.operation()), errno)),
        _ => error_with_path(env, error),
    }
}

/// Makes the value for an error with its path: `[code, path]` where the system has a number for it,
/// and `[code, path, undefined, destination]` if it has a second one; else `[reason, path, text]`.
pub(crate) fn error_with_path(env: sys::napi_env, error: &Error) -> sys::napi_value {
    if error.is_cancelled() {
        return number(env, CANCELLED);
    }
    let path = error
        .path()
        .map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    let path = text(env, &path);
    if let Some(errno) = errno(error) {
        let code = number(env, coded(step_of(error.operation()), errno));
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

/// Returns Node's number for an error, also for one that the core found without asking the system.
fn errno(error: &Error) -> Option<i32> {
    // Windows has one number for a missing directory and for a file in its place; libuv tells them
    // apart.
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

/// Puts the step into the upper half of a number and Node's errno into the lower.
const fn coded(step: Step, errno: i32) -> i32 {
    (step as i32) << 16 | errno
}

const fn step_of(operation: Operation) -> Step {
    match operation {
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
        Operation::Symlink => Step::Symlink,
        Operation::Link => Step::Link,
        _ => Step::Open,
    }
}
