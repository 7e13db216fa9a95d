//! The file systems of a batch, and the decision which of them are flushed whole, by `syncfs`.

use std::io;
use std::sync::Arc;

use super::written::{ToClose, Written};
use crate::error::copy_of;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, WholeFileSystem};

/// The minimum number of files for `syncfs`. Fewer are flushed one by one, all at the same time.
const MIN_FILES: usize = 8;
/// The unwritten bytes of other programs, for each file, that are worth flushing with `syncfs`. A
/// disk that writes 100 MB/s takes 1.3 ms for them, about as long as a flush.
const UNWRITTEN_PER_FILE: u64 = 128 << 10;
/// Unwritten bytes of other programs that never prevent `syncfs`.
const MIN_UNWRITTEN: u64 = 4 << 20;

/// The number of a file on a file system that is never flushed whole.
pub(super) const NO_FILE_SYSTEM: usize = usize::MAX;

/// The file systems of a batch, by their numbers.
#[derive(Debug, Default)]
pub(super) struct FileSystems {
    known: Vec<FileSystem>,
    /// Closed files that wait for their file system to be flushed. Those for one path follow each
    /// other.
    covered: Vec<Written>,
}

#[derive(Debug)]
struct FileSystem {
    device: u64,
    /// Opened before the first write, so that it hears of all errors.
    whole: Option<Arc<WholeFileSystem>>,
    /// It will be flushed whole.
    is_chosen: bool,
    /// It was flushed whole without an error.
    is_flushed: bool,
    /// The error of flushing it, which stays.
    failed: Option<io::Error>,
    files: usize,
    bytes: u64,
}

impl FileSystems {
    /// Returns the number of a file system, by a file that is open on it and was not written yet.
    pub(super) fn enter(&mut self, device: u64, file: &OwnedFile) -> usize {
        let known = self.known.iter().position(|it| it.device == device);
        known.unwrap_or_else(|| {
            self.known.push(FileSystem {
                device,
                whole: WholeFileSystem::of(raw::borrow(file)).map(Arc::new),
                is_chosen: false,
                is_flushed: false,
                failed: None,
                files: 0,
                bytes: 0,
            });
            self.known.len() - 1
        })
    }

    /// Returns true if that file system can be flushed whole.
    pub(super) fn may_be_flushed_whole(&self, number: usize) -> bool {
        self.known.get(number).is_some_and(|it| it.whole.is_some())
    }

    /// Returns true if that file system will be flushed whole.
    pub(super) fn is_chosen(&self, number: usize) -> bool {
        self.known.get(number).is_some_and(|it| it.is_chosen)
    }

    /// Counts a file of that length, and decides whether its file system will be flushed whole.
    pub(super) fn choose(&mut self, number: usize, length: usize) -> bool {
        self.known
            .get_mut(number)
            .is_some_and(|it| it.choose(length))
    }

    /// Adds files whose file system will be flushed whole. Returns their open files, to be closed.
    pub(super) fn cover(&mut self, mut files: Vec<Written>) -> Vec<ToClose> {
        let to_close = files.iter_mut().filter_map(Written::take_file).collect();
        self.covered.append(&mut files);
        to_close
    }

    /// Drops a covered file whose close has failed, and its temporary file.
    pub(super) fn drop_covered(&mut self, index: usize) {
        self.covered.retain(|written| written.index != index);
    }

    /// Takes all covered files.
    pub(super) fn take_covered(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.covered)
    }

    /// Returns the number of file systems.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Returns the file system to be flushed; `None` if it has no such call. Returns the error of
    /// an earlier flush, since a flush is never repeated after an error.
    pub(super) fn whole(&self, number: usize) -> io::Result<Option<Arc<WholeFileSystem>>> {
        let file_system = &self.known[number];
        file_system.outcome()?;
        Ok(file_system.whole.clone())
    }

    /// Records that a file system was flushed whole, or the error of that. Returns the first error
    /// of all such flushes.
    pub(super) fn flushed(&mut self, number: usize, done: io::Result<()>) -> io::Result<()> {
        let file_system = &mut self.known[number];
        match done {
            Ok(()) => file_system.is_flushed = true,
            Err(error) => file_system.failed = Some(error),
        }
        file_system.outcome()
    }

    /// Returns true if any file system was flushed whole.
    pub(super) fn any_flushed(&self) -> bool {
        self.known.iter().any(|it| it.is_flushed)
    }

    /// Returns the number of the file system with that device number, if it was flushed whole.
    pub(super) fn flushed_on(&self, device: Option<u64>) -> Option<usize> {
        let is_it = |it: &FileSystem| device == Some(it.device) && it.is_flushed;
        self.known.iter().position(is_it)
    }

    /// Closes the file systems. An open file keeps a disk mounted.
    pub(super) fn close(&mut self) {
        self.known.clear();
    }
}

impl FileSystem {
    fn outcome(&self) -> io::Result<()> {
        match &self.failed {
            Some(reason) => Err(copy_of(reason)),
            None => Ok(()),
        }
    }

    fn choose(&mut self, length: usize) -> bool {
        self.files += 1;
        self.bytes += length as u64;
        // Asked at 8 files, 16, 32 and so on: the more files, the more unwritten bytes are worth
        // flushing.
        if self.whole.is_some()
            && !self.is_chosen
            && self.files >= MIN_FILES
            && self.files.is_power_of_two()
        {
            let of_others = UNWRITTEN_PER_FILE * self.files as u64;
            let max = self.bytes + of_others.max(MIN_UNWRITTEN);
            self.is_chosen = sys::unwritten_bytes().is_some_and(|unwritten| unwritten <= max);
        }
        self.is_chosen
    }
}
