//! Calls for paths, as libuv makes them for node:fs. Each system performs them in its own way.

#![cfg_attr(
    windows,
    expect(dead_code, reason = "on Windows node:fs does all of these calls")
)]

use std::ffi::CString;

/// The call. `lib/core/metadata/operations.ts` has the same numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Access,
    Stat,
    Lstat,
    Readdir,
    /// As the JavaScript of node:fs resolves an absolute path.
    Realpath,
    Readlink,
    /// With the directories above it.
    Mkdir,
    Chmod,
    Utimes,
}

/// All operations, in the order of their numbers.
pub(crate) const OPERATIONS: [Operation; 9] = [
    Operation::Access,
    Operation::Stat,
    Operation::Lstat,
    Operation::Readdir,
    Operation::Realpath,
    Operation::Readlink,
    Operation::Mkdir,
    Operation::Chmod,
    Operation::Utimes,
];

/// A call with its arguments.
pub(crate) struct Call {
    pub(crate) operation: Operation,
    pub(crate) path: CString,
    /// The number that the call has: an access mode, permissions, or 1 for yes.
    pub(crate) bits: u32,
    /// For [`Operation::Utimes`].
    pub(crate) times: Times,
    /// For [`Operation::Mkdir`].
    pub(crate) making: Making,
}

/// The progress of a call that makes a directory with those above it.
#[derive(Default)]
pub(crate) struct Making {
    /// The directories to make before that of the call, the next one last.
    pub(crate) missing: Vec<CString>,
    /// The first that was made.
    pub(crate) first: Option<CString>,
}

/// The times of a file, in seconds since 1970.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) access: f64,
    pub(crate) modification: f64,
}

/// The fields of an `fs.Stats`, in Node's order. The last eight are four times in seconds and
/// nanoseconds.
pub(crate) type Status = [u64; 18];

/// The result of a call.
pub(crate) enum Answer {
    Nothing,
    /// The call is to be performed again, to make the next directory.
    More,
    Status(Box<Status>),
    /// A path; or names with a slash after each, and perhaps their types.
    Text(Vec<u8>),
}
