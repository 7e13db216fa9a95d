//! How native code tells JavaScript what went wrong, without making an error object.

use smallfry::raw::Errno;

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
}

impl Failure {
    /// The number that JavaScript gets: -1 for [`Failure::Delegate`], else the step in the upper half and errno in the
    /// lower.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Delegate => -1,
            // A write that takes nothing has no errno of its own; Node would repeat it for ever.
            Self::System(step, Errno::NOTHING_WRITTEN) => (step as i32) << 16 | libc::EIO,
            Self::System(step, errno) => (step as i32) << 16 | errno.0,
        }
    }
}

/// Turns an errno into a [`Failure`] of `step`.
pub(crate) fn at(step: Step) -> impl Fn(Errno) -> Failure {
    move |errno| Failure::System(step, errno)
}
