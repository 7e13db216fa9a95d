//! What waits in a batch, and for what.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::at_once::max_threads;
use super::directories::Directories;
use crate::bulk::place::key_of;
use crate::durability::temporary_file::TemporaryFile;
use crate::error::{Error, Operation};
use crate::raw::{self, Errno, OwnedFile};
use crate::sys::{self, WholeFileSystem};

/// Fewer files are flushed one by one: at most that many waits, all at once.
const FEWEST_FOR_WHOLE: usize = 8;
/// What others have still to write, for each file, where flushing the whole file system is worth it. In bytes: a disk that
/// writes 100 MB/s needs 1.3 ms for it, about what a flush costs.
const UNWRITTEN_PER_FILE: u64 = 128 << 10;
/// So much of it is no reason to flush even a few files one by one. In bytes.
const LEAST_UNWRITTEN: u64 = 4 << 20;
/// Files that are open at a time where flushing is fast. Linux stops a process with several threads for 10 to 20 ms whenever its
/// table of descriptors has to grow, which it does past 64.
const MAX_OPEN_IF_FAST: usize = 24;
/// The same where flushing is slow.
const MAX_OPEN: usize = 1024;
/// Flushes that take longer are worth more files in between, and threads that wait.
const SLOW: Duration = Duration::from_millis(2);

/// In place of a number: nobody asks.
pub(super) const NO_FILE_SYSTEM: usize = usize::MAX;

#[derive(Debug)]
pub(super) struct Queue {
    /// Files that were written and are open, in an order in which those of one path follow each other.
    open: VecDeque<Written>,
    /// Keys of those that are being flushed: of two for one path the later is renamed later.
    busy: HashSet<u64>,
    /// Those that wait for their file system to be flushed, closed, in the same order.
    covered: Vec<Written>,
    /// How many flushes there were, how long they took together, and the quickest.
    flushes: u32,
    flushing: Duration,
    quickest: Duration,
    max_open: usize,
    /// Paths that something was written for, by their keys.
    known: HashSet<u64>,
    pub(super) file_systems: Vec<FileSystem>,
    /// Names that are to be flushed.
    pub(super) dirs: Directories,
    /// Directories that can be opened, and whether they give new files access control lists.
    pub(super) directories: HashMap<PathBuf, bool>,
    pub(super) failures: Vec<(usize, Error)>,
    /// Threads that flush, and those of them that have nothing to do.
    pub(super) threads: usize,
    pub(super) idle: usize,
    /// Others who wait for a flush to end.
    pub(super) waiters: usize,
    /// No file will come any more.
    pub(super) is_over: bool,
}

/// A file system that the batch writes to.
#[derive(Debug)]
pub(super) struct FileSystem {
    pub(super) device: u64,
    /// Opened before the first write.
    pub(super) whole: Option<Arc<WholeFileSystem>>,
    /// It will be flushed whole.
    is_chosen: bool,
    /// It was, without an error.
    pub(super) is_flushed: bool,
    /// Why it could not be: for good.
    pub(super) failed: Option<io::Error>,
    files: usize,
    bytes: u64,
}

/// A file that was written, and is to be flushed and perhaps renamed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) index: usize,
    /// As the caller has it.
    pub(super) path: PathBuf,
    /// The same for each spelling of the path.
    key: u64,
    /// By its number in the batch.
    pub(super) file_system: usize,
    /// `None` once it is covered by its file system.
    pub(super) file: Option<OwnedFile>,
    pub(super) temporary: Option<(TemporaryFile, PathBuf)>,
    /// The system has begun to write it.
    is_begun: bool,
    /// Why it could not: for good.
    pub(super) failed: Option<Errno>,
}

impl Queue {
    pub(super) fn new(is_for_many: bool) -> Self {
        Self {
            open: VecDeque::new(),
            busy: HashSet::new(),
            covered: Vec::new(),
            flushes: 0,
            flushing: Duration::ZERO,
            quickest: Duration::MAX,
            max_open: if is_for_many {
                MAX_OPEN_IF_FAST.min(max_open())
            } else {
                1
            },
            waiters: 0,
            known: HashSet::new(),
            file_systems: Vec::new(),
            dirs: Directories::default(),
            directories: HashMap::new(),
            failures: Vec::new(),
            threads: 0,
            idle: 0,
            is_over: false,
        }
    }

    /// The number of a file system, by a file that is open on it and that nothing was written to yet.
    pub(super) fn enter(&mut self, device: u64, file: &OwnedFile) -> usize {
        let known = self.file_systems.iter().position(|it| it.device == device);
        known.unwrap_or_else(|| {
            self.file_systems.push(FileSystem {
                device,
                whole: WholeFileSystem::of(raw::borrow(file)).map(Arc::new),
                is_chosen: false,
                is_flushed: false,
                failed: None,
                files: 0,
                bytes: 0,
            });
            self.file_systems.len() - 1
        })
    }

    /// Has a file wait that has `length` bytes. Gives files that need not be open any more, to be closed.
    pub(super) fn add(
        &mut self,
        mut written: Written,
        length: usize,
    ) -> Vec<(usize, PathBuf, OwnedFile)> {
        self.known.insert(written.key);
        let number = written.file_system;
        let Some(file_system) = self.file_systems.get_mut(number) else {
            self.open.push_back(written);
            return Vec::new();
        };
        let was_chosen = file_system.is_chosen;
        if !file_system.is_chosen_with(length) {
            self.open.push_back(written);
            return Vec::new();
        }
        let mut to_close = Vec::new();
        if !was_chosen {
            let open = std::mem::take(&mut self.open).into_iter();
            let (there, elsewhere) = open.partition(|it| it.file_system == number);
            self.open = elsewhere;
            let mut there = Vec::from(there);
            to_close.extend(there.iter_mut().filter_map(Written::take_file));
            self.covered.append(&mut there);
        }
        to_close.extend(written.take_file());
        self.covered.push(written);
        to_close
    }

    /// Has the system begin to write all that are open.
    pub(super) fn begin(&mut self) {
        if self.open.len() > 1 {
            self.open.iter_mut().for_each(Written::begin);
        }
    }

    /// Takes a file that is open and not of a path that is being flushed. [`flushed`](Self::flushed) is told of it.
    pub(super) fn take(&mut self) -> Option<Written> {
        let is_free = |written: &Written| !self.busy.contains(&written.key);
        let next = self.open.iter().position(is_free)?;
        let written = self.open.remove(next)?;
        self.busy.insert(written.key);
        Some(written)
    }

    /// A file that was [taken](Self::take) has been flushed, which took so long.
    pub(super) fn flushed(&mut self, key: u64, took: Duration) {
        self.busy.remove(&key);
        self.flushes += 1;
        self.flushing += took;
        self.quickest = self.quickest.min(took);
        if self.is_slow() && self.max_open == MAX_OPEN_IF_FAST {
            self.max_open = max_open();
        }
    }

    /// By the mean: of a hundred files the flush of one may be what commits the journal, and the others find it done.
    fn is_slow(&self) -> bool {
        self.flushing > SLOW * self.flushes
    }

    /// How many more threads are of use.
    pub(super) fn threads_wanted(&self) -> usize {
        let took = if self.is_slow() {
            self.flushing / self.flushes
        } else {
            self.quickest
        };
        let without = self.open.len().saturating_sub(self.idle);
        max_threads(took).saturating_sub(self.threads).min(without)
    }

    /// Takes all files that wait for their file system.
    pub(super) fn take_covered(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.covered)
    }

    /// Takes one of these out again.
    pub(super) fn drop_covered(&mut self, index: usize) {
        self.covered.retain(|written| written.index != index);
    }

    /// Takes all files that wait.
    pub(super) fn take_all(&mut self) -> Vec<Written> {
        self.open.drain(..).chain(self.covered.drain(..)).collect()
    }

    /// How many files are open.
    pub(super) fn count_open(&self) -> usize {
        self.open.len() + self.busy.len()
    }

    /// Whether more files should not be opened.
    pub(super) fn is_full(&self) -> bool {
        self.count_open() >= self.max_open
    }

    /// Whether who waits because it [is full](Self::is_full) should flush meanwhile: not where that would keep it longer than
    /// others take to make room.
    pub(super) fn is_fast(&self) -> bool {
        self.threads == 0 || self.flushes > 0 && !self.is_slow()
    }

    /// Whether somebody should be called to flush: to wake up for each file costs more than a fast flush.
    pub(super) fn is_worth_a_call(&self) -> bool {
        let is_anybody_free = self.threads == 0 || self.idle > 0;
        is_anybody_free && (self.is_slow() || self.open.len() >= FEWEST_FOR_WHOLE)
    }

    /// Whether something was written for that path.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.known.contains(&key_of(path))
    }

    /// Whether the system should begin to write a file on that file system: somebody will flush it soon, and it alone.
    pub(super) fn is_to_begin(&self, file_system: usize) -> bool {
        let file_system = self.file_systems.get(file_system);
        self.threads > 0 && !file_system.is_some_and(|it| it.is_chosen)
    }
}

impl FileSystem {
    /// Counts a file. Whether it is covered by its file system.
    fn is_chosen_with(&mut self, length: usize) -> bool {
        self.files += 1;
        self.bytes += length as u64;
        // Seldom asked: what others do may change, and the more files there are the more of it is worth waiting for.
        if self.whole.is_some()
            && !self.is_chosen
            && self.files >= FEWEST_FOR_WHOLE
            && self.files.is_power_of_two()
        {
            let of_others = UNWRITTEN_PER_FILE * self.files as u64;
            let most = self.bytes + of_others.max(LEAST_UNWRITTEN);
            self.is_chosen = sys::unwritten_bytes().is_some_and(|unwritten| unwritten <= most);
        }
        self.is_chosen
    }
}

impl Written {
    pub(super) fn new(
        index: usize,
        path: &Path,
        file_system: usize,
        file: OwnedFile,
        temporary: Option<(TemporaryFile, PathBuf)>,
    ) -> Self {
        Self {
            index,
            key: key_of(path),
            path: path.to_owned(),
            file_system,
            file: Some(file),
            temporary,
            is_begun: false,
            failed: None,
        }
    }

    /// Has the system begin to write it. The first flush then finds all files on their way, and its journal entry is for all.
    pub(super) fn begin(&mut self) {
        if let Some(file) = &self.file
            && !self.is_begun
        {
            self.failed = sys::begin_flush(raw::borrow(file)).err();
            self.is_begun = true;
        }
    }

    pub(super) fn key(&self) -> u64 {
        self.key
    }

    pub(super) fn close(&mut self) -> Result<(), Error> {
        match self.file.take() {
            Some(file) => {
                raw::close(file).map_err(|reason| Error::at(Operation::Close, &self.path, reason))
            }
            None => Ok(()),
        }
    }

    fn take_file(&mut self) -> Option<(usize, PathBuf, OwnedFile)> {
        let file = self.file.take()?;
        Some((self.index, self.path.clone(), file))
    }
}

/// How many files of a batch may be open: not many of those that the process may have.
fn max_open() -> usize {
    (sys::descriptor_limit() / 8).clamp(1, MAX_OPEN)
}
