//! How native code tells JavaScript what went wrong, without making an error object.

use smallfry::raw::Errno;

use crate::sys::{EIO, is_for_runtime, node_errno};

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
