//! Flushes the names of a batch: each directory once.

use std::collections::{HashMap, HashSet};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use smallfry_workers::{Strategy, map};

use super::batch::Batch;
use super::flushers::max_threads;
use crate::durable::flush::{flush_directory, sync_dir_of};
use crate::error::{Error, Operation, copy_of};
use crate::path::parents::Parents;
use crate::path::{Base, directory_of, without_dot};
use crate::raw;
use crate::sys;
use crate::write::Durability;

/// The maximum number of directories that are flushed one by one on a file system that was flushed
/// whole. For more of them it is flushed whole once more.
const MAX_ONE_BY_ONE: usize = 2;

impl Batch {
    /// Checks, before anything is changed in it, that the directory of `path` can be opened to be
    /// flushed. Returns true if it may give new files an access control list.
    pub(super) fn check_directory(&self, base: &Base, path: &Path) -> Result<bool, Error> {
        let options = &self.options;
        if options.durability != Durability::Full || !sys::FLUSHES_DIRECTORIES {
            return Ok(true);
        }
        let directory = directory_of(path);
        if let Some(gives_list) = self.lock().directories.gives_list(directory) {
            return Ok(gives_list);
        }
        let opened = match base.open_directory(directory) {
            Ok(opened) => opened,
            // It may still be created, or the error of the file tells more.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(true);
            }
            Err(reason) => return Err(Error::at(Operation::Open, directory, reason)),
        };
        let gives_list = options.replace && sys::gives_list(raw::borrow(&opened));
        self.lock().directories.add_openable(directory, gives_list);
        Ok(gives_list)
    }

    /// Flushes the directories of new and replaced names, and those above created directories. An
    /// error fails every file whose name it may have cost.
    pub(super) fn flush_directories(&self, parents: &Parents) {
        let base = &self.base;
        let (waiting, slow_flush) = {
            let state = self.lock();
            (state.directories.waiting(), state.open.slow_flush())
        };
        // A whole flush covers created directories, but not the names of files that came after it.
        let made = parents.take_made();
        let above: HashSet<&Path> = made
            .iter()
            .map(|made| without_dot(directory_of(made)))
            .filter(|above| !waiting.iter().any(|it| it == above))
            .collect();
        let any_whole = self.lock().file_systems.any_flushed();
        let left_to_whole = Mutex::new(HashMap::<usize, Vec<PathBuf>>::new());
        let flush = |path: &Path, is_above: bool| -> Result<(), Error> {
            if !any_whole || !is_above && waiting.len() <= MAX_ONE_BY_ONE {
                return sync_dir_of(base, path);
            }
            let directory = base.open_directory(path);
            let directory = directory.map_err(|reason| Error::at(Operation::Open, path, reason))?;
            let device = sys::device_of(raw::borrow(&directory));
            let flushed = self.lock().file_systems.flushed_on(device);
            match flushed {
                Some(_) if is_above => {}
                Some(number) => {
                    let mut left = left_to_whole.lock().unwrap_or_else(PoisonError::into_inner);
                    left.entry(number).or_default().push(path.to_owned());
                }
                None => flush_directory(&directory, path)?,
            }
            Ok(())
        };
        let all = waiting.iter().map(|it| (it.as_path(), false));
        let all = all.chain(above.into_iter().map(|it| (it, true)));
        let mut failed: Vec<(PathBuf, Error)> = flush_each(all, slow_flush, |(path, is_above)| {
            let done = flush(path, is_above);
            done.map_err(|error| (path.to_owned(), error))
        })
        .into_iter()
        .filter_map(Result::err)
        .collect();
        let left_to_whole = left_to_whole.into_inner();
        for (number, directories) in left_to_whole.unwrap_or_else(PoisonError::into_inner) {
            if let Err(reason) = self.flush_whole(number) {
                failed.extend(directories.into_iter().map(|path| {
                    let error = Error::at(Operation::Syncfs, &path, copy_of(&reason));
                    (path, error)
                }));
            }
        }
        let mut state = self.lock();
        for (path, error) in failed {
            for file in state.directories.files_below(&path) {
                state.failures.add(file.index, error.duplicate());
            }
        }
    }
}

/// Calls `flush` with each directory, on as many threads as the time of a flush is worth. If that
/// is not given, the first is flushed here, and its time counts. A lone one is flushed here, too.
fn flush_each<I: Send, O: Send>(
    directories: impl Iterator<Item = I>,
    flush_time: Option<Duration>,
    flush: impl Fn(I) -> O + Send + Sync,
) -> Vec<O> {
    let mut directories = directories.fuse().peekable();
    let Some(first) = directories.next() else {
        return Vec::new();
    };
    // Another thread would only be started for nothing.
    if directories.peek().is_none() {
        return vec![flush(first)];
    }
    let (done, left, flush_time) = if let Some(time) = flush_time {
        (None, Some(first), time)
    } else {
        let began = Instant::now();
        (Some(flush(first)), None, began.elapsed())
    };
    let threads = NonZeroUsize::new(max_threads(flush_time)).unwrap_or(NonZeroUsize::MIN);
    let directories = left.into_iter().chain(directories);
    let rest = map(Strategy::Threads(threads), directories, flush);
    done.into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn flush_each_flushes_every_directory_once() {
        for pause in [Duration::ZERO, Duration::from_micros(400)] {
            for count in [0, 1, 2, 300] {
                for known in [None, Some(Duration::from_millis(5))] {
                    let sum = AtomicUsize::new(0);
                    let done = flush_each(1..=count, known, |number| {
                        // The first one tells nothing of the others.
                        if number > 1 {
                            thread::sleep(pause);
                        }
                        sum.fetch_add(number, Ordering::Relaxed);
                    });
                    assert_eq!(done.len(), count);
                    assert_eq!(sum.into_inner(), count * (count + 1) / 2);
                }
            }
        }
    }
}
