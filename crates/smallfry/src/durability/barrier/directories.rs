//! The names of a batch: which directories are to be flushed, each once.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::at_once::at_once;
use super::{Batch, directory_of};
use crate::bulk::place::without_dot;
use crate::durability::{flush_directory, sync_dir_of};
use crate::error::{Error, Operation, copy_of};
use crate::parents::Parents;
use crate::raw;
use crate::sys;

/// With more directories than this on a file system that can be flushed whole, that is one flush instead of theirs.
const MAX_EACH: usize = 2;

/// The files of a batch that were written without an error, by their directories.
#[derive(Debug, Default)]
pub(super) struct Directories(HashMap<PathBuf, Directory>);

#[derive(Debug, Default)]
struct Directory {
    /// It has names that are not on the disk yet.
    is_waiting: bool,
    files: Vec<Named>,
}

/// A file under its name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) index: usize,
    pub(super) path: PathBuf,
    /// That the file is on; its directory may be on another one.
    pub(super) file_system: usize,
}

impl Directories {
    /// A file, which `is_named` if its name has nothing to wait for.
    pub(super) fn add(&mut self, file: Named, is_named: bool) {
        let directory = without_dot(directory_of(&file.path));
        if !self.0.contains_key(directory) {
            self.0.insert(directory.to_owned(), Directory::default());
        }
        if let Some(dir) = self.0.get_mut(without_dot(directory_of(&file.path))) {
            dir.is_waiting |= !is_named;
            dir.files.push(file);
        }
    }

    /// The files on one file system.
    pub(super) fn files_on(&self, file_system: usize) -> Vec<Named> {
        let files = self.0.values().flat_map(|it| &it.files);
        let there = files.filter(|it| it.file_system == file_system);
        there.cloned().collect()
    }

    fn files_below(&self, directory: &Path) -> Vec<Named> {
        let files = self.0.values().flat_map(|it| &it.files);
        let below = files.filter(|it| without_dot(&it.path).starts_with(directory));
        below.cloned().collect()
    }

    fn waiting(&self) -> Vec<PathBuf> {
        let waiting = self.0.iter().filter(|(_, it)| it.is_waiting);
        waiting.map(|(path, _)| path.clone()).collect()
    }
}

impl Batch {
    /// Flushes the directories of new and replaced names, and those above directories that were made. An error is one of every
    /// file whose name it may have cost.
    pub(super) fn flush_directories(&self, parents: &Parents) {
        let place = &self.place;
        let waiting = self.lock().dirs.waiting();
        // Those were there when a file system was flushed whole; names of files may have come since.
        let made = parents.take_made();
        let above: HashSet<&Path> = made
            .iter()
            .map(|made| without_dot(directory_of(made)))
            .filter(|above| !waiting.iter().any(|it| it == above))
            .collect();
        let is_whole_flushed = self.lock().file_systems.iter().any(|it| it.is_flushed);
        let failed = Mutex::new(Vec::new());
        let left_to_whole = Mutex::new(HashMap::<usize, Vec<PathBuf>>::new());
        let flush = |dir: &Path, is_above: bool| -> Result<(), Error> {
            if !is_whole_flushed || !is_above && waiting.len() <= MAX_EACH {
                return sync_dir_of(place, dir);
            }
            let directory = place.open_directory(dir);
            let directory = directory.map_err(|reason| Error::at(Operation::Open, dir, reason))?;
            let device = sys::device_of(raw::borrow(&directory));
            let flushed = self
                .lock()
                .file_systems
                .iter()
                .position(|it| device == Some(it.device) && it.is_flushed);
            match flushed {
                Some(_) if is_above => {}
                Some(number) => {
                    let mut left = left_to_whole.lock().unwrap_or_else(PoisonError::into_inner);
                    left.entry(number).or_default().push(dir.to_owned());
                }
                None => flush_directory(&directory, dir)?,
            }
            Ok(())
        };
        let all = waiting.iter().map(|it| (it.as_path(), false));
        let all = all.chain(above.into_iter().map(|it| (it, true))).collect();
        at_once(all, |(dir, is_above)| {
            if let Err(error) = flush(dir, is_above) {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.push((dir.to_owned(), error));
            }
        });
        let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left_to_whole = left_to_whole.into_inner();
        for (number, directories) in left_to_whole.unwrap_or_else(PoisonError::into_inner) {
            if let Err(reason) = self.flush_whole(number) {
                failed.extend(directories.into_iter().map(|dir| {
                    let error = Error::at(Operation::Syncfs, &dir, copy_of(&reason));
                    (dir, error)
                }));
            }
        }
        let mut queue = self.lock();
        for (dir, error) in failed {
            for file in queue.dirs.files_below(&dir) {
                queue.failures.push((file.index, error.duplicate()));
            }
        }
    }
}
