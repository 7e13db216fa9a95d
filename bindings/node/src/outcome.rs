//! How native code tells JavaScript what went wrong, without making an error object.

use napi_sys as sys;
use smallfry::Error;
use smallfry::raw::Errno;

use crate::bulk::error_with_path;
use crate::sys::{EIO, EISDIR, is_for_runtime, is_refused_directory, node_errno};
use crate::value::number;

/// The system call that failed. The numbers are known to `lib/errors.ts`.
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
}

/// Why a call did not succeed.
#[derive(Clone, Copy)]
pub(crate) enum Failure {
    /// Nothing was done and node:fs is the one to do it: a path with NUL, a file too large for one string.
    Delegate,
    /// A system call failed.
    System(Step, Errno),
    /// Something failed without a system call; the number is Node's.
    Other(Step, i32),
}

impl Failure {
    /// The number that JavaScript gets: -1 for [`Failure::Delegate`], else the step in the upper half and Node's errno,
    /// without its sign, in the lower.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Delegate => -1,
            // A write that takes nothing has no errno of its own; Node would repeat it for ever.
            Self::System(step, Errno::NOTHING_WRITTEN) => (step as i32) << 16 | EIO,
            Self::System(step, errno) => (step as i32) << 16 | node_errno(errno.0),
            Self::Other(step, errno) => (step as i32) << 16 | errno,
        }
    }
}

/// Turns an errno into a [`Failure`] of `step`.
pub(crate) fn at(step: Step) -> impl Fn(Errno) -> Failure {
    move |errno| Failure::System(step, errno)
}

/// What a failed `open` is to JavaScript.
pub(crate) fn at_open(errno: Errno) -> Failure {
    if is_for_runtime(errno) {
        Failure::Delegate
    } else {
        Failure::System(Step::Open, errno)
    }
}

/// As [`Failure`], or an error of the core with what it knows.
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
    /// What JavaScript gets: the number of a [`Failure`], or an error as [`error_with_path`] makes it.
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
