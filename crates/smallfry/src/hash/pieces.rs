//! A large file on several threads, each of which hashes other pieces of it.
//!
//! BLAKE3 is defined by a binary tree over the contents. A piece is a subtree of it, so pieces can
//! be hashed in any order and put together at the end.
//!
//! [BLAKE3, 2.1](https://github.com/BLAKE3-team/BLAKE3-specs/blob/master/blake3.pdf)

use std::fs::File;
use std::io::{self, Seek as _};

use blake3::Hasher;
use blake3::hazmat::{
    ChainingValue, HasherExt as _, Mode, left_subtree_len, merge_subtrees_non_root,
    merge_subtrees_root,
};
use smallfry_workers::{BatchOptions, Control, Task, TaskContext, run_all};

use super::digest::Digest;
use super::failure::Failure;
use crate::error::Operation;
use crate::raw::BorrowedFile;
use crate::sys;

/// The length of a piece in bytes. It is a power of two, so that a piece is a subtree.
const PIECE: u64 = 1 << 20;
/// The number of bytes that are read at a time.
const READ: usize = 64 << 10;
/// The length of a file that is worth it, in bytes. One thread hashes it in some 20 ms.
pub(super) const MIN_LENGTH: u64 = 64 << 20;

/// Hashes an open file of this length. `None` if it has another one by now, or was read before;
/// then its position is where it was.
pub(super) fn hash(
    file: BorrowedFile<'_>,
    length: u64,
    control: Option<&Control>,
) -> Result<Option<Digest>, Failure> {
    let read = |reason| Failure::Reason(Operation::Read, reason);
    let mut file = File::from(file.try_clone_to_owned().map_err(read)?);
    if file.stream_position().map_err(read)? != 0 {
        return Ok(None);
    }
    let task = HashPiece {
        file: &file,
        length,
        control,
    };
    let count = length.div_ceil(PIECE);
    let starts = (0..count).map(|index| index * PIECE);
    let pieces = run_all(task, BatchOptions::default(), starts);
    let pieces = pieces.into_iter().collect::<Result<Option<Vec<_>>, _>>()?;
    let is_whole = sys::read_at(&file, &mut [0], length).map_err(read)? == 0;
    // Reading at a position moves it on Windows.
    file.rewind().map_err(read)?;
    let whole = pieces.filter(|pieces| is_whole && pieces.len() as u64 == count);
    Ok(whole.map(|pieces| {
        let (left, right) = children(&pieces, length);
        let root = merge_subtrees_root(&left, &right, Mode::Hash);
        root.as_bytes().into()
    }))
}

/// Returns the values of both subtrees of a tree over these pieces, which has this length.
fn children(pieces: &[ChainingValue], length: u64) -> (ChainingValue, ChainingValue) {
    let left_length = left_subtree_len(length);
    let (left, right) = pieces.split_at((left_length / PIECE) as usize);
    (value(left, left_length), value(right, length - left_length))
}

/// Returns the value of a subtree.
fn value(pieces: &[ChainingValue], length: u64) -> ChainingValue {
    if let [piece] = pieces {
        return *piece;
    }
    let (left, right) = children(pieces, length);
    merge_subtrees_non_root(&left, &right, Mode::Hash)
}

/// The task of hashing one piece, which begins at the input. `None` if it is shorter by now.
struct HashPiece<'f> {
    file: &'f File,
    length: u64,
    control: Option<&'f Control>,
}

impl Task for HashPiece<'_> {
    type Input = u64;
    type Output = Result<Option<ChainingValue>, Failure>;
    type Scratch = Vec<u8>;

    fn run(&self, buffer: &mut Vec<u8>, start: u64, _: &mut TaskContext<'_>) -> Self::Output {
        buffer.resize(READ, 0);
        let mut hasher = Hasher::new();
        hasher.set_input_offset(start);
        let mut position = start;
        let end = self.length.min(start + PIECE);
        while position < end {
            if self.control.is_some_and(Control::is_cancelled) {
                return Err(Failure::Cancelled);
            }
            let asked = (end - position).min(READ as u64) as usize;
            match sys::read_at(self.file, &mut buffer[..asked], position) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    hasher.update(&buffer[..count]);
                    position += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Reason(Operation::Read, error)),
            }
        }
        Ok(Some(hasher.finalize_non_root()))
    }

    fn cancelled(&self, _: u64) -> Self::Output {
        Err(Failure::Cancelled)
    }
}
