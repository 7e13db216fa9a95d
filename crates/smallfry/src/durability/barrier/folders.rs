//! The names of a batch: which directories are to be flushed, each once.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::at_once::at_once;
use super::{Barrier, FileSystem, directory_of};
use crate::bulk::place::Place;
use crate::durability::sync_dir_of;
use crate::error::{Error, Operation};
use crate::parents::Parents;
use crate::raw;
use crate::sys;

/// With more directories than this on a file system that can be flushed whole, that is one wait instead of theirs.
const MOST_EACH: usize = 2;

/// The files of a batch that were written without an error, by their directories.
#[derive(Debug, Default)]
pub(super) struct Folders(HashMap<PathBuf, Folder>);

#[derive(Debug, Default)]
struct Folder {
    file_system: usize,
    /// It has names that are not on the disk yet.
    is_waiting: bool,
    files: Vec<(usize, PathBuf)>,
}

impl Folders {
    /// A file with this path, which `is_named` if its name has nothing to wait for.
    pub(super) fn add(&mut self, path: PathBuf, index: usize, file_system: usize, is_named: bool) {
        let directory = directory_of(&path);
        if !self.0.contains_key(directory) {
            let folder = Folder {
                file_system,
                ..Folder::default()
            };
            self.0.insert(directory.to_owned(), folder);
        }
        if let Some(folder) = self.0.get_mut(directory_of(&path)) {
            folder.is_waiting |= !is_named;
            folder.files.push((index, path));
        }
    }

    /// The files on one file system, with their numbers in the batch.
    pub(super) fn files_on(&self, file_system: usize) -> Vec<(usize, PathBuf)> {
        let folders = self.0.values().filter(|it| it.file_system == file_system);
        folders.flat_map(|it| it.files.iter().cloned()).collect()
    }

    fn files_below(&self, directory: &Path) -> Vec<(usize, PathBuf)> {
        let files = self.0.values().flat_map(|it| &it.files);
        let below = files.filter(|(_, path)| path.starts_with(directory));
        below.cloned().collect()
    }

    fn waiting_on(&self, file_system: usize) -> Vec<PathBuf> {
        let folders = self.0.iter();
        let waiting = folders.filter(|(_, it)| it.is_waiting && it.file_system == file_system);
        waiting.map(|(path, _)| path.clone()).collect()
    }
}

impl Barrier {
    /// Flushes the directories of new and replaced names, and those above directories that were made. An error is one of every
    /// file whose name it may have cost.
    pub(super) fn flush_folders(&self, place: &Place, parents: &Parents) {
        let made = parents.take_made();
        let mut above: HashSet<&Path> = made.iter().map(|made| directory_of(made)).collect();
        let chosen: Vec<bool> = {
            let state = self.lock();
            state.file_systems.iter().map(|it| it.is_chosen).collect()
        };
        let mut each = Vec::new();
        for number in 0..chosen.len().max(1) {
            let folders = self.lock().folders.waiting_on(number);
            if chosen.get(number) == Some(&true) && folders.len() > MOST_EACH {
                if let Err(reason) = self.flush_whole(place, number) {
                    self.fail_all(number, &reason);
                }
            } else {
                each.extend(folders);
            }
        }
        for folder in &each {
            above.remove(folder.as_path());
        }
        let failed = Mutex::new(Vec::new());
        let fail = |folder: PathBuf, error: Error| {
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.push((folder, error));
        };
        at_once(each, |folder| {
            if let Err(error) = sync_dir_of(place, &folder) {
                fail(folder, error);
            }
        });
        at_once(above.into_iter().collect(), |folder| {
            if let Err(error) = self.flush_above(place, folder) {
                fail(folder.to_owned(), error);
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        for (folder, error) in failed {
            for (index, _) in state.folders.files_below(&folder) {
                state.failures.push((index, error.duplicate()));
            }
        }
    }

    /// Flushes a directory in which one was made, unless its file system was flushed whole since.
    fn flush_above(&self, place: &Place, folder: &Path) -> Result<(), Error> {
        let directory = place.open_directory(folder);
        let directory = directory.map_err(|reason| Error::at(Operation::Open, folder, reason))?;
        let device = sys::device_of(raw::borrow(&directory));
        let is_flushed = |it: &FileSystem| device.is_some() && it.device == device && it.is_chosen;
        if self.lock().file_systems.iter().any(is_flushed) {
            return Ok(());
        }
        sys::flush_directory(&directory)
            .map_err(|reason| Error::at(Operation::Fsync, folder, reason))
    }
}
