//! Copies the contents of one open file to another.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::raw::{self, BorrowedFile, OwnedFile};
use crate::sys::{self, EntryStatus};

/// Memory that a thread keeps from one file to the next.
#[derive(Default)]
pub(super) struct Buffer(Vec<u8>);

/// The bytes that are read and written at a time.
const PIECE: usize = 128 << 10;

/// Tells whether files can be cloned from one file system to another.
pub(super) struct Cloning {
    /// It was not tried, or works.
    is_tried: AtomicBool,
    works: AtomicBool,
}

impl Cloning {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self {
            is_tried: AtomicBool::new(!is_wanted),
            works: AtomicBool::new(false),
        }
    }

    /// Clones a file. Returns false if it has to be copied. Nothing more is cloned if the first
    /// file cannot be: later ones may have reasons of their own.
    fn clone_file(&self, source: BorrowedFile<'_>, destination: BorrowedFile<'_>) -> bool {
        let is_first = !self.is_tried.swap(true, Ordering::Relaxed);
        if !is_first && !self.works.load(Ordering::Relaxed) {
            return false;
        }
        let is_cloned = sys::clone_file(source, destination).is_ok();
        if is_first {
            self.works.store(is_cloned, Ordering::Relaxed);
        }
        is_cloned
    }
}

/// Copies the contents of a file to a new one, and returns their length in bytes.
pub(super) fn copy(
    source: &OwnedFile,
    destination: &OwnedFile,
    status: &EntryStatus,
    cloning: &Cloning,
    buffer: &mut Buffer,
) -> io::Result<u64> {
    let (source, destination) = (raw::borrow(source), raw::borrow(destination));
    if status.size > 0 && cloning.clone_file(source, destination) {
        return Ok(status.size);
    }
    if status.is_sparse() {
        return Ok(sys::copy_sparse(source, destination, status.size)?);
    }
    let Buffer(memory) = buffer;
    memory.reserve_exact(PIECE);
    let mut length = 0;
    loop {
        memory.clear();
        let count = sys::read_spare(source, memory)?;
        if count == 0 {
            return Ok(length);
        }
        write_all(destination, memory)?;
        length += count as u64;
        // No other read is needed to find the end.
        if length == status.size {
            return Ok(length);
        }
    }
}

fn write_all(destination: BorrowedFile<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match raw::write(destination, bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}
