//! One write: check, compare, choose flags, open, write.
//!
//! Single calls, batches and durable writes all go through [`find_unchanged`] and
//! [`open_and_write`]. They differ in how a path is opened, which they pass as a function, and in
//! what happens to the open file afterwards.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use super::WriteOptions;
use crate::error::{Error, Operation};
use crate::raw::{self, BorrowedFile, OwnedFile};

/// Flags to open a file for comparison. Without `O_NONBLOCK` a named pipe would wait for a writer.
const COMPARE_FLAGS: i32 = raw::O_RDONLY | raw::O_NONBLOCK;

/// The number of bytes of an existing file that are compared at a time.
const COMPARE_PIECE: usize = 16 * 1024;

/// Returns an open file if it is a regular one that holds exactly `bytes`.
///
/// `open` opens it with these flags. An error of `open` or of reading counts as a difference: the
/// write that follows meets it too, and reports it.
pub(crate) fn find_unchanged(
    bytes: &[u8],
    open: impl FnOnce(i32) -> Result<OwnedFile, Error>,
) -> Option<OwnedFile> {
    let file = open(COMPARE_FLAGS).ok()?;
    holds_exactly(raw::borrow(&file), bytes).then_some(file)
}

/// Opens a file with the flags that `options` ask for, writes `bytes`, and leaves it open.
#[inline]
pub(crate) fn open_and_write(
    options: &WriteOptions,
    path: &Path,
    bytes: &[u8],
    open: impl FnOnce(i32) -> Result<OwnedFile, Error>,
) -> Result<OwnedFile, Error> {
    let file = open(options.flags(bytes.len()))?;
    if options.overwrites(bytes.len()) {
        return overwrite(file, bytes)
            .map_err(|(operation, reason)| Error::at(operation, path, reason));
    }
    raw::write_all(raw::borrow(&file), bytes)
        .map_err(|reason| Error::at(Operation::Write, path, reason))?;
    Ok(file)
}

/// Makes `bytes` the whole contents of an open file, which may hold other ones.
#[inline]
fn overwrite(file: OwnedFile, bytes: &[u8]) -> Result<OwnedFile, (Operation, io::Error)> {
    let status = raw::status(raw::borrow(&file))
        .map_err(|reason| (Operation::Fstat, io::Error::from(reason)))?;
    let file = if status.is_regular && status.size > bytes.len() as u64 {
        cut(file, bytes.len() as u64)?
    } else {
        file
    };
    if let Err(reason) = raw::write_all(raw::borrow(&file), bytes) {
        if status.is_regular {
            // The rest must not look like a whole file. The first error is the one to report.
            let _ = cut(file, 0);
        }
        return Err((Operation::Write, reason.into()));
    }
    Ok(file)
}

#[cold]
fn cut(file: OwnedFile, length: u64) -> Result<OwnedFile, (Operation, io::Error)> {
    let file = File::from(file);
    file.set_len(length)
        .map_err(|reason| (Operation::Write, reason))?;
    Ok(file.into())
}

/// Returns true if an open file is a regular one that holds exactly `bytes`.
fn holds_exactly(file: BorrowedFile<'_>, bytes: &[u8]) -> bool {
    match raw::status(file) {
        Ok(status) if status.is_regular && status.size == bytes.len() as u64 => {
            reads_exactly(file, bytes)
        }
        _ => false,
    }
}

fn reads_exactly(file: BorrowedFile<'_>, mut expected: &[u8]) -> bool {
    let mut buffer = [const { MaybeUninit::uninit() }; COMPARE_PIECE];
    loop {
        // One byte more than expected, so that the read of the last byte also finds the end.
        let asked = COMPARE_PIECE.min(expected.len() + 1);
        let Ok(found) = raw::read(file, &mut buffer[..asked]) else {
            return false;
        };
        let Some((head, rest)) = expected.split_at_checked(found.len()) else {
            return false;
        };
        if head != found {
            return false;
        }
        if rest.is_empty() && found.len() < asked {
            return true;
        }
        if found.is_empty() {
            return false;
        }
        expected = rest;
    }
}
