//! The entries of all sources, in the order of the archive.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::Options;
use crate::error::{Error, Operation};
use crate::sys::{self, Kind, OwnedName};
use crate::tree::directory::{Directories, Directory};
use crate::tree::report::Results;

/// An entry.
pub(super) struct Found {
    pub(super) directory: Arc<Directory>,
    pub(super) name: OwnedName,
    pub(super) kind: Kind,
    /// Its path in the file system, for errors.
    pub(super) source: PathBuf,
    /// Its path in the archive.
    pub(super) path: PathBuf,
}

/// The entries that are left.
pub(super) struct Listing<'l> {
    options: &'l Options,
    directories: &'l Directories,
    results: &'l Results,
    /// Sources that were not begun, the next one last: paths, and their names in the archive.
    sources: Vec<(PathBuf, PathBuf)>,
    /// Directories that were begun, the innermost one last.
    levels: Vec<Level>,
    /// The directory that is listed next.
    next: Option<Found>,
}

struct Level {
    directory: Arc<Directory>,
    source: PathBuf,
    path: PathBuf,
    /// The entries that are left, the next one last.
    entries: Vec<(OwnedName, Kind)>,
}

impl<'l> Listing<'l> {
    pub(super) fn new(
        options: &'l Options,
        directories: &'l Directories,
        results: &'l Results,
        mut sources: Vec<(PathBuf, PathBuf)>,
    ) -> Self {
        sources.reverse();
        Self {
            options,
            directories,
            results,
            sources,
            levels: Vec::new(),
            next: None,
        }
    }

    fn fail(&self, path: &Path, reason: impl Into<io::Error>) {
        let error = Error::at(Operation::Readdir, path, reason);
        self.results.fail(error);
    }

    /// Lists a directory.
    fn list(
        &mut self,
        directory: Arc<Directory>,
        source: PathBuf,
        path: PathBuf,
    ) -> io::Result<()> {
        let mut entries = Vec::new();
        let open = self.directories.open(&directory)?;
        open.list(|name, kind| entries.push((name.to_owned(), kind)))?;
        entries.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        self.levels.push(Level {
            directory,
            source,
            path,
            entries,
        });
        Ok(())
    }

    /// Enters a directory whose entry was given.
    fn enter(&mut self, found: Found) {
        let entered = self.directories.enter(&found.directory, &found.name);
        let source = found.source.clone();
        let listed =
            entered.and_then(|(directory, _)| self.list(directory, found.source, found.path));
        if let Err(reason) = listed {
            self.fail(&source, reason);
        }
    }

    /// Begins a source. `None` if it is not an entry itself.
    fn begin(&mut self, source: PathBuf, path: PathBuf) -> io::Result<Option<Found>> {
        let Some(name) = sys::last_name(&source) else {
            let directory = self.directories.begin(&source)?;
            self.list(directory, source, path)?;
            return Ok(None);
        };
        let directory = self.directories.begin(&sys::start_of(&source))?;
        let kind = self.directories.open(&directory)?.kind_of(&name)?;
        let is_contents = path.as_os_str().is_empty();
        if is_contents && kind != Kind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let found = Found {
            directory,
            name,
            kind,
            source,
            path,
        };
        if is_contents {
            self.enter(found);
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Returns the next entry of the innermost directory.
    fn next_entry(&mut self) -> Option<Found> {
        while let Some(level) = self.levels.last_mut() {
            let Some((name, kind)) = level.entries.pop() else {
                self.levels.pop();
                continue;
            };
            let path = level.path.join(sys::as_path(&name));
            let filter = self.options.filter.as_ref();
            if filter.is_none_or(|is_wanted| is_wanted(&path)) {
                return Some(Found {
                    directory: Arc::clone(&level.directory),
                    source: level.source.join(sys::as_path(&name)),
                    name,
                    kind,
                    path,
                });
            }
        }
        None
    }
}

impl Iterator for Listing<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if let Some(directory) = self.next.take() {
            self.enter(directory);
        }
        let found = loop {
            if let Some(found) = self.next_entry() {
                break found;
            }
            let (source, path) = self.sources.pop()?;
            let shown = source.clone();
            match self.begin(source, path) {
                Ok(Some(found)) => break found,
                Ok(None) => {}
                Err(reason) => self.fail(&shown, reason),
            }
        };
        if found.kind == Kind::Directory {
            self.next = Some(Found {
                directory: Arc::clone(&found.directory),
                name: found.name.clone(),
                kind: found.kind,
                source: found.source.clone(),
                path: found.path.clone(),
            });
        }
        Some(found)
    }
}
