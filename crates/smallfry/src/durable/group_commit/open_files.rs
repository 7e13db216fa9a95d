//! Files that are open and wait to be flushed one by one.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use super::written::Written;
use crate::path::key_of;
use crate::sys;

/// The maximum number of open files where flushing is fast. Linux stops a process with several
/// threads for 10 to 20 ms whenever its table of descriptors grows, which it does past 64.
const MAX_OPEN_IF_FAST: usize = 24;
/// The maximum number of open files where flushing is slow.
const MAX_OPEN: usize = 1024;
/// Flushes that take longer than this are slow: more open files and waiting threads pay.
const SLOW: Duration = Duration::from_millis(2);

/// The open files of a batch, and the time that flushing them takes.
#[derive(Debug)]
pub(super) struct OpenFiles {
    /// Files that wait. Those for one path follow each other.
    waiting: VecDeque<Written>,
    /// The keys of files that are being flushed. Of two files for one path the later is renamed
    /// later.
    flushing: HashSet<u64>,
    /// The keys of all paths that were written.
    known: HashSet<u64>,
    max_open: usize,
    /// The beginning of the first flush.
    began: Option<Instant>,
    /// The number of flushes that have ended, their total time, and the quickest.
    flushes: u32,
    total_time: Duration,
    quickest: Duration,
}

impl OpenFiles {
    pub(super) fn new(is_for_many: bool) -> Self {
        Self {
            waiting: VecDeque::new(),
            flushing: HashSet::new(),
            known: HashSet::new(),
            max_open: if is_for_many {
                MAX_OPEN_IF_FAST.min(max_open())
            } else {
                1
            },
            began: None,
            flushes: 0,
            total_time: Duration::ZERO,
            quickest: Duration::MAX,
        }
    }

    /// Remembers that something was written for the path with that key.
    pub(super) fn remember(&mut self, key: u64) {
        self.known.insert(key);
    }

    /// Returns true if something was written for that path.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.known.contains(&key_of(path))
    }

    pub(super) fn push(&mut self, written: Written) {
        self.waiting.push_back(written);
    }

    /// Tells the system to begin writing all files that wait.
    pub(super) fn begin_writeback(&mut self) {
        if self.waiting.len() > 1 {
            self.waiting.iter_mut().for_each(Written::begin_writeback);
        }
    }

    /// Takes a file whose path is not being flushed. [`flushed`](Self::flushed) must be called
    /// afterwards.
    pub(super) fn take(&mut self) -> Option<Written> {
        let is_free = |written: &Written| !self.flushing.contains(&written.key);
        let next = self.waiting.iter().position(is_free)?;
        let written = self.waiting.remove(next)?;
        self.flushing.insert(written.key);
        self.began.get_or_insert_with(Instant::now);
        Some(written)
    }

    /// Takes all files that wait on one file system.
    pub(super) fn take_on(&mut self, file_system: usize) -> Vec<Written> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (there, elsewhere) = waiting.partition(|it| it.file_system == file_system);
        self.waiting = elsewhere;
        Vec::from(there)
    }

    /// Takes all files that wait.
    pub(super) fn take_all(&mut self) -> Vec<Written> {
        self.waiting.drain(..).collect()
    }

    /// Records that a file which was [taken](Self::take) has been flushed.
    pub(super) fn flushed(&mut self, key: u64, took: Duration) {
        self.flushing.remove(&key);
        self.flushes += 1;
        self.total_time += took;
        self.quickest = self.quickest.min(took);
        self.open_more_if_slow();
    }

    /// Allows more open files if flushes are slow.
    pub(super) fn open_more_if_slow(&mut self) {
        if self.is_slow() && self.max_open == MAX_OPEN_IF_FAST {
            self.max_open = max_open();
        }
    }

    /// Returns true if no flush has ended, so that only the clock tells how long one takes.
    pub(super) fn is_untimed(&self) -> bool {
        self.flushes == 0
    }

    /// Returns true if flushes are slow on average. The quickest says little: of a hundred flushes
    /// one may commit the journal, and the others find that done.
    pub(super) fn is_slow(&self) -> bool {
        if self.is_untimed() {
            return self.flush_time() > SLOW;
        }
        self.total_time > SLOW * self.flushes
    }

    /// Returns the time of a flush if flushes are slow.
    pub(super) fn slow_flush(&self) -> Option<Duration> {
        self.is_slow().then(|| self.flush_time())
    }

    /// Returns true if flushes are known to be fast.
    pub(super) fn is_fast(&self) -> bool {
        !self.is_untimed() && !self.is_slow()
    }

    /// Returns the time of a flush. Before the first has ended, it is the time since that began.
    /// Quick flushes that wait for each other take longer, which is no reason for more threads, so
    /// the quickest counts there.
    pub(super) fn flush_time(&self) -> Duration {
        if self.is_untimed() {
            self.began.map_or(Duration::ZERO, |began| began.elapsed())
        } else if self.is_slow() {
            self.total_time / self.flushes
        } else {
            self.quickest
        }
    }

    /// Returns the number of files that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of open files.
    pub(super) fn count(&self) -> usize {
        self.waiting.len() + self.flushing.len()
    }

    /// Returns true if no more files should be opened.
    pub(super) fn is_full(&self) -> bool {
        self.count() >= self.max_open
    }
}

/// Returns the maximum number of open files: a small part of the descriptor limit.
fn max_open() -> usize {
    (sys::descriptor_limit() / 8).clamp(1, MAX_OPEN)
}
