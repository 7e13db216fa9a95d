//! The number of flusher threads of a batch, and how many more pay.

use std::time::Duration;

use smallfry_workers::available_cores;

use super::open_files::OpenFiles;
use crate::sys;

/// The maximum number of threads. A disk serves some dozens of flushes at once; a journal or a
/// server serves any number by one wait.
const MAX_THREADS: usize = 128;
/// The cost of a flush besides waiting: system calls and wake-ups. Threads pay until this keeps a
/// processor busy.
const COST: Duration = Duration::from_micros(40);
/// The number of waiting files for which the first flusher starts where no `syncfs` may cover them:
/// as soon as there are several. A batch of 10 files saves 1 ms of 17 where a flush takes 5 ms.
const MIN_FILES_TO_START: usize = 2;
/// The number of waiting files for which a flusher is woken. Waking one for each file costs more
/// than a fast flush.
const MIN_FILES_TO_WAKE: usize = 8;

/// The time after which a thread that waits for the first flush looks at the clock. More flushers
/// then start beside a slow flush instead of after it, which saves a batch of 10 files one of three
/// flushes.
const FIRST_LOOK: Duration = Duration::from_micros(500);

/// The flusher threads of a batch, and the threads that wait for them.
#[derive(Debug, Default)]
pub(super) struct Flushers {
    threads: usize,
    /// The number of flusher threads that have nothing to do, or have not begun yet.
    idle: usize,
    /// The number of other threads that wait for a flush to end.
    waiters: usize,
    /// No file will come any more.
    is_over: bool,
}

impl Flushers {
    /// Counts flusher threads that start.
    pub(super) fn add(&mut self, count: usize) {
        self.threads += count;
        self.idle += count;
    }

    /// Counts a flusher thread that ends.
    pub(super) fn remove(&mut self) {
        self.threads -= 1;
    }

    /// Counts flusher threads that could not be started.
    pub(super) fn remove_unstarted(&mut self, count: usize) {
        self.threads -= count;
        self.idle -= count;
    }

    /// Counts a flusher thread that begins to wait for a file.
    pub(super) fn add_idle(&mut self) {
        self.idle += 1;
    }

    /// Counts a flusher thread that has begun, or has waited for a file.
    pub(super) fn remove_idle(&mut self) {
        self.idle -= 1;
    }

    /// Counts another thread that begins to wait for a flush to end.
    pub(super) fn add_waiter(&mut self) {
        self.waiters += 1;
    }

    /// Counts another thread that has waited for a flush to end.
    pub(super) fn remove_waiter(&mut self) {
        self.waiters -= 1;
    }

    /// Notes that no file will come any more.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Returns true if no file will come any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns true if a flusher thread has nothing to do.
    pub(super) fn has_idle(&self) -> bool {
        self.idle > 0
    }

    /// Returns true if another thread waits for a flush to end.
    pub(super) fn has_waiters(&self) -> bool {
        self.waiters > 0
    }

    /// Returns true if there is a flusher thread.
    pub(super) fn are_running(&self) -> bool {
        self.threads > 0
    }

    /// Returns true if a flusher should be woken or started. Where flushes are slow, each file gets
    /// one at once, so that it shares the next flush of the disk. `may_be_whole` says that `syncfs`
    /// may still cover the files.
    pub(super) fn should_wake(&self, open: &OpenFiles, may_be_whole: bool) -> bool {
        if self.threads == 0 && !may_be_whole {
            return open.waiting() >= MIN_FILES_TO_START;
        }
        if open.is_slow() {
            return self.idle > 0 || self.missing(open) > 0;
        }
        let is_one_free = self.threads == 0 || self.idle > 0;
        is_one_free && open.waiting() >= MIN_FILES_TO_WAKE
    }

    /// Returns true if a flusher should be started for a file, instead of waking an idle one.
    pub(super) fn should_start(&self, open: &OpenFiles) -> bool {
        self.threads == 0 || open.is_slow() && self.missing(open) > 0
    }

    /// Returns true if a blocked writer should flush a file itself instead of waiting for a
    /// flusher. It should not where flushes are slow: flushers make room sooner.
    pub(super) fn should_help(&self, open: &OpenFiles) -> bool {
        self.threads == 0 || open.is_fast()
    }

    /// Returns true if a thread with nothing else to do should watch the first flush of another
    /// thread, instead of flushing a file itself.
    pub(super) fn should_watch(&self, open: &OpenFiles) -> bool {
        self.threads > 0 && open.is_untimed()
    }

    /// Returns how long a thread waits before it looks how long the first flush has taken, if that
    /// has not ended: twice as long each time.
    pub(super) fn next_look(&self, open: &OpenFiles) -> Option<Duration> {
        self.should_watch(open)
            .then(|| open.flush_time().max(FIRST_LOOK))
    }

    /// Returns how many more threads pay.
    pub(super) fn missing(&self, open: &OpenFiles) -> usize {
        let unserved = open.waiting().saturating_sub(self.idle);
        if unserved == 0 {
            return 0;
        }
        max_threads(open.flush_time())
            .saturating_sub(self.threads)
            .min(unserved)
    }
}

/// Returns how many threads pay where a single flush takes this long.
pub(super) fn max_threads(flush_time: Duration) -> usize {
    let threads = flush_time.as_micros() / COST.as_micros();
    let threads = usize::try_from(threads).unwrap_or(MAX_THREADS);
    // Each thread may have a directory open.
    let max = MAX_THREADS.min(sys::descriptor_limit() / 8);
    threads.max(available_cores().get()).min(max).max(1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file_systems::NO_FILE_SYSTEM;
    use super::super::written::Written;
    use super::*;

    #[test]
    fn missing_is_a_thread_for_each_file_while_the_first_flush_is_slow() {
        const FILES: usize = 9;
        let mut open = OpenFiles::new(true);
        for index in 0..=FILES {
            let file = tempfile::tempfile().unwrap().into();
            let path = index.to_string();
            open.push(Written::new(
                index,
                Path::new(&path),
                NO_FILE_SYSTEM,
                file,
                None,
            ));
        }
        let mut flushers = Flushers::default();
        flushers.add(1);
        flushers.remove_idle();
        assert!(open.take().is_some());
        std::thread::sleep(COST * 20);
        assert_eq!(flushers.missing(&open), FILES);
        flushers.add(FILES);
        // They have not begun, so all files still wait.
        assert_eq!(flushers.missing(&open), 0);
        assert!(!flushers.should_start(&open));
    }
}
