//! File systems that are flushed whole, by one `syncfs` for all files of the batch.

use std::io;
use std::sync::Arc;

use super::Batch;
use super::written::{ToClose, Written};
use crate::durable::flush::note_failure;
use crate::error::{Error, Operation, copy_of};
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

impl Batch {
    /// Flushes the file systems of covered files, and renames these. If one fails, all files on it
    /// fail: nothing tells which were lost.
    pub(super) fn flush_covered(&self) {
        let (covered, count) = {
            let mut state = self.lock();
            (
                state.file_systems.take_covered(),
                state.file_systems.known.len(),
            )
        };
        let mut failed = Vec::new();
        for number in 0..count {
            if covered.iter().any(|written| written.file_system == number)
                && let Err(reason) = self.flush_whole(number)
            {
                self.fail_all(number, &reason);
                failed.push((number, reason));
            }
        }
        for mut written in covered {
            let number = written.file_system;
            let done = match failed.iter().find(|(of, _)| *of == number) {
                Some((_, reason)) => {
                    let reason = copy_of(reason);
                    Err(Error::at(Operation::Syncfs, &written.path, reason))
                }
                None => self.rename(&mut written),
            };
            self.record(written, done, true);
        }
    }

    /// Flushes a file system, also again after renames, but never after an error.
    pub(super) fn flush_whole(&self, number: usize) -> io::Result<()> {
        let whole = match &self.lock().file_systems.known[number] {
            FileSystem {
                failed: Some(reason),
                ..
            } => return Err(copy_of(reason)),
            FileSystem { whole, .. } => whole.clone(),
        };
        let done = whole.map_or(Ok(()), |whole| whole.flush());
        let mut state = self.lock();
        let file_system = &mut state.file_systems.known[number];
        match done {
            Ok(()) => file_system.is_flushed = true,
            Err(error) => {
                note_failure();
                file_system.failed = Some(error.into());
            }
        }
        match &file_system.failed {
            Some(reason) => Err(copy_of(reason)),
            None => Ok(()),
        }
    }

    fn fail_all(&self, file_system: usize, reason: &io::Error) {
        let mut state = self.lock();
        for file in state.directories.files_on(file_system) {
            let error = Error::at(Operation::Syncfs, &file.path, copy_of(reason));
            state.failures.add(file.index, error);
        }
    }
}
