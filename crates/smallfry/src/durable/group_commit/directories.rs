//! The names of a batch, by their directories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::path::{directory_of, without_dot};

/// The directories of a batch.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// The files that were written without an error.
    files: HashMap<PathBuf, Files>,
    /// Directories that can be opened to be flushed, and whether they give new files access control
    /// lists.
    openable: HashMap<PathBuf, bool>,
}

/// The files of one directory.
#[derive(Debug, Default)]
struct Files {
    /// Some of their names are not on the disk yet.
    is_waiting: bool,
    files: Vec<Named>,
}

/// A file under its name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) index: usize,
    pub(super) path: PathBuf,
    /// The number of the file's own file system. Its directory may be on another one.
    pub(super) file_system: usize,
}

impl Directories {
    /// Records that a directory can be opened, and whether it gives new files access control lists.
    pub(super) fn add_openable(&mut self, directory: &Path, gives_list: bool) {
        self.openable.insert(directory.to_owned(), gives_list);
    }

    /// Returns whether a directory gives new files access control lists, if it is known to be
    /// openable.
    pub(super) fn gives_list(&self, directory: &Path) -> Option<bool> {
        self.openable.get(directory).copied()
    }

    /// Adds a file. `is_named` says that its name is on the disk, or need not be.
    pub(super) fn add(&mut self, file: Named, is_named: bool) {
        let directory = without_dot(directory_of(&file.path));
        if !self.files.contains_key(directory) {
            self.files.insert(directory.to_owned(), Files::default());
        }
        if let Some(files) = self.files.get_mut(without_dot(directory_of(&file.path))) {
            files.is_waiting |= !is_named;
            files.files.push(file);
        }
    }

    /// Returns the files on one file system.
    pub(super) fn files_on(&self, file_system: usize) -> Vec<Named> {
        let files = self.files.values().flat_map(|it| &it.files);
        let there = files.filter(|it| it.file_system == file_system);
        there.cloned().collect()
    }

    /// Returns the files in a directory and below it.
    pub(super) fn files_below(&self, directory: &Path) -> Vec<Named> {
        let files = self.files.values().flat_map(|it| &it.files);
        let below = files.filter(|it| without_dot(&it.path).starts_with(directory));
        below.cloned().collect()
    }

    /// Returns the directories that have names to flush.
    pub(super) fn waiting(&self) -> Vec<PathBuf> {
        let waiting = self.files.iter().filter(|(_, it)| it.is_waiting);
        waiting.map(|(path, _)| path.clone()).collect()
    }
}
