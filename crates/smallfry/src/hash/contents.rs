//! The contents of one open file: read into one buffer, piece by piece, and hashed at once.

use std::io;

use smallfry_workers::{Control, Strategy};

use super::algorithm::{Algorithm, State};
use super::digest::Digest;
use super::failure::Failure;
use super::pieces;
use crate::error::Operation;
use crate::raw::BorrowedFile;
use crate::sys;

/// The size of the buffer in bytes. It stays in the processor's second cache, and one read takes
/// most small files.
const PIECE: usize = 64 << 10;

/// The memory of a worker that hashes files.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

/// The size of an open file, as far as it is known.
#[derive(Clone, Copy)]
pub(super) enum Size {
    /// The file says that it has so many bytes.
    Told(u64),
    /// Anything may be read: from a pipe, a socket, a device.
    Unknown,
}

/// Hashes an open file from its position to its end. Returns the number of bytes, too. With `Auto`,
/// several threads hash a large file if that pays.
///
/// The first bytes of a large file may be read minutes before its last. So a cancelled `control`
/// ends it after the piece that is being read.
pub(super) fn hash(
    algorithm: Algorithm,
    file: BorrowedFile<'_>,
    size: Size,
    Buffer(buffer): &mut Buffer,
    strategy: Strategy,
    control: Option<&Control>,
) -> Result<(Digest, u64), Failure> {
    if let Size::Told(length @ pieces::MIN_LENGTH..) = size
        && algorithm == Algorithm::Blake3
        && strategy == Strategy::Auto
        && let Some(digest) = pieces::hash(file, length, control)?
    {
        return Ok((digest, length));
    }
    let read = |reason: io::Error| Failure::Reason(Operation::Read, reason);
    let told = match size {
        Size::Told(size) => Some(size),
        Size::Unknown if algorithm.begins_with_length() => return Err(read(no_length())),
        Size::Unknown => None,
    };
    buffer.clear();
    buffer.reserve_exact(PIECE);
    let mut state: Option<State> = None;
    let mut length = 0;
    loop {
        buffer.clear();
        let asked = buffer.capacity();
        let count = sys::read_spare(file, buffer).map_err(|errno| read(errno.into()))?;
        length += count as u64;
        // 0 may be a file under `/proc`, so it does not count.
        let is_end = count == 0 || (count < asked && length > 0 && told == Some(length));
        if algorithm.begins_with_length()
            && told.is_some_and(|told| length > told || (is_end && length < told))
        {
            return Err(read(changed()));
        }
        if is_end {
            let digest = match state {
                // Most files are read by one call.
                None => algorithm.hash(buffer),
                Some(mut state) => {
                    state.update(buffer);
                    state.finish()
                }
            };
            return Ok((digest, length));
        }
        if control.is_some_and(Control::is_cancelled) {
            return Err(Failure::Cancelled);
        }
        let state = state.get_or_insert_with(|| State::new(algorithm, told.unwrap_or(0)));
        state.update(buffer);
    }
}

#[cold]
fn no_length() -> io::Error {
    let reason = "a git blob begins with the length of the file, and this file has none";
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cold]
fn changed() -> io::Error {
    io::Error::other("the length of the file has changed while it was read")
}
