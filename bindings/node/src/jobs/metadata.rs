//! A call for paths: one system call, or a few.

use std::ffi::CString;

use smallfry::close::Closer;
use smallfry::raw::Errno;

use super::progress::Progress;
use crate::errors::{Failure, Step};
use crate::mailbox::Answer;
use crate::sys::metadata::{self, Call, Making, OPERATIONS, Operation, Times};
use crate::sys::{borrowed_path, is_plain, perform};

/// Added to the number of an operation for a status whose fields become bigints.
const AS_BIGINTS: i32 = 32;

/// A call for paths.
pub(crate) struct Metadata {
    call: Call,
    as_bigints: bool,
}

impl Metadata {
    /// `number` is that of the operation. `numbers` are two times, or the one number that the call
    /// has. `None` for an unknown operation.
    pub(super) fn new(number: i32, path: CString, numbers: [f64; 2]) -> Option<Self> {
        let operation = operation(number)?;
        let [access, modification] = numbers;
        let call = Call {
            operation,
            path,
            making: Making::default(),
            bits: (access as i64).cast_unsigned() as u32,
            times: Times {
                access,
                modification,
            },
        };
        let as_bigints = number & AS_BIGINTS != 0;
        Some(Self { call, as_bigints })
    }

    /// Tells whether the call changes something on the disk.
    pub(super) fn changes(&self) -> bool {
        matches!(
            self.call.operation,
            Operation::Mkdir | Operation::Chmod | Operation::Utimes
        )
    }

    /// Makes the call. A directory with those above it is made one at a time. Other threads then
    /// work in other directories, and do not wait for each other.
    pub(super) fn step(&mut self) -> Progress {
        Closer::global().wait_for(borrowed_path(&self.call.path));
        Progress::Done(match perform(&mut self.call) {
            Ok(metadata::Answer::More) => return Progress::More,
            Ok(metadata::Answer::Nothing) => Ok(Answer::Nothing),
            Ok(metadata::Answer::Status(status)) => Ok(Answer::Status(status, self.as_bigints)),
            Ok(metadata::Answer::Text(text)) => Ok(Answer::Text(text)),
            Err(errno) => Err(self.failure(errno).into()),
        })
    }

    /// node:fs repeats a call that fails in an unusual way, so that its errors are its own. It also
    /// repeats the making of directories, since it goes on where this call has ended.
    fn failure(&self, errno: Errno) -> Failure {
        let operation = self.call.operation;
        if operation == Operation::Mkdir || !is_plain(errno) {
            return Failure::Delegate;
        }
        Failure::System(step_of(operation), errno)
    }
}

/// Returns the operation with this number.
pub(crate) fn operation(number: i32) -> Option<Operation> {
    let index = usize::try_from(number & !AS_BIGINTS).ok()?;
    OPERATIONS.get(index).copied()
}

/// Returns the step that errors name.
pub(crate) fn step_of(operation: Operation) -> Step {
    match operation {
        Operation::Access => Step::Access,
        Operation::Stat => Step::Stat,
        Operation::Lstat => Step::Lstat,
        Operation::Readdir => Step::Readdir,
        Operation::Realpath => Step::Realpath,
        Operation::Readlink => Step::Readlink,
        Operation::Mkdir => Step::Mkdir,
        Operation::Chmod => Step::Chmod,
        Operation::Utimes => Step::Utime,
    }
}
