//! Writes entries to the archive, one after the other.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::archive_files::ArchiveFiles;
use super::listing::Found;
use super::options::Options;
use super::reading::{Content, operation_of};
use super::sink::{Facts, Sink};
use crate::error::Error;
use crate::raw;
use crate::sys::{self, EntryStatus, Identity};
use crate::tree::directory::Directories;
use crate::tree::report::Results;

/// The bytes of a large file that are read at a time.
const PIECE: usize = 256 << 10;

/// The reason why nothing more can be packed.
pub(super) enum Stop {
    Cancelled,
    /// The archive cannot be written.
    Writing(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// The entries that are written one after the other.
pub(super) struct Writing<'w, S> {
    pub(super) options: &'w Options,
    pub(super) directories: &'w Directories,
    pub(super) results: &'w Results,
    pub(super) own: Option<&'w ArchiveFiles>,
    pub(super) names: &'w mut HashMap<Identity, PathBuf>,
    pub(super) sink: &'w mut S,
}

impl<S: Sink> Writing<'_, S> {
    #[cold]
    pub(super) fn fail(&self, found: &Found, reason: io::Error) {
        let error = Error::at(operation_of(found.kind), &found.source, reason);
        self.results.fail(error);
    }

    pub(super) fn add(
        &mut self,
        found: &Found,
        status: &EntryStatus,
        content: Content,
    ) -> Result<(), Stop> {
        if self.own.is_some_and(|own| own.has(found, status)) {
            return Ok(());
        }
        let path = &found.path;
        let mut facts = self.facts(status);
        match content {
            Content::Directory => {
                facts.size = 0;
                if let Err(reason) = self.sink.directory(path, &facts) {
                    return self.refuse(found, reason);
                }
                self.results.add_directory();
                self.tell(path);
                return Ok(());
            }
            Content::Link(target) => {
                facts.size = 0;
                if let Err(reason) = self.sink.link(path, &target, &facts) {
                    return self.refuse(found, reason);
                }
                self.added(path, 0);
                return Ok(());
            }
            Content::File(_) | Content::Large => {}
        }
        if status.names > 1
            && let Some(first) = self.names.get(&status.identity)
            && self.sink.hard_link(path, first, &facts)?
        {
            self.added(path, 0);
            return Ok(());
        }
        if status.names > 1 {
            self.names
                .entry(status.identity)
                .or_insert_with(|| path.clone());
        }
        if let Content::File(contents) = content {
            facts.size = contents.len() as u64;
            if let Err(reason) = self.sink.begin_file(path, &facts) {
                return self.refuse(found, reason);
            }
            self.sink.contents(&contents)?;
        } else {
            let file = self.open(found);
            let parts = file.as_ref().and_then(|file| self.parts_of(file, status));
            let begun = match &parts {
                Some(parts) => self.sink.begin_sparse(path, &facts, parts),
                None => self.sink.begin_file(path, &facts).map(|()| false),
            };
            let parts = match begun {
                Ok(true) => parts.unwrap_or_default(),
                Ok(false) => vec![(0, status.size)],
                Err(reason) => return self.refuse(found, reason),
            };
            let stored: u64 = parts.iter().map(|(_, length)| length).sum();
            self.options.control.moved(status.size - stored);
            self.add_large(found, file, &parts)?;
        }
        self.sink.end_file()?;
        self.added(path, facts.size);
        Ok(())
    }

    fn added(&self, path: &Path, bytes: u64) {
        self.results.add_file(bytes);
        self.tell(path);
    }

    /// Tells the caller about an entry.
    fn tell(&self, path: &Path) {
        if let Some(on_entry) = &self.options.on_entry {
            on_entry(path);
        }
    }

    /// Notes an entry whose name the format cannot have. Another error is one of the archive.
    fn refuse(&self, found: &Found, reason: io::Error) -> Result<(), Stop> {
        if reason.kind() != io::ErrorKind::InvalidInput {
            return Err(reason.into());
        }
        self.fail(found, reason);
        Ok(())
    }

    /// Opens a large file. `None` if that failed, which is reported.
    fn open(&self, found: &Found) -> Option<File> {
        let opened = self
            .directories
            .open(&found.directory)
            .and_then(|directory| {
                self.directories
                    .with_descriptors(|| Ok(directory.open_file(&found.name)?))
            });
        let opened = opened.map_err(|reason| self.fail(found, reason));
        opened.ok().map(File::from)
    }

    /// Returns the parts of a file between its holes. `None` if it has none, or if other copies of it
    /// would have others and the archive is to be the same.
    fn parts_of(&self, file: &File, status: &EntryStatus) -> Option<Vec<(u64, u64)>> {
        if !status.is_sparse() || self.options.reproducible {
            return None;
        }
        // An error here is one of reading, too.
        sys::data_parts(raw::borrow(file), status.size).ok()
    }

    /// Packs parts of a file, zeros if it has become shorter.
    fn add_large(
        &mut self,
        found: &Found,
        mut file: Option<File>,
        parts: &[(u64, u64)],
    ) -> Result<(), Stop> {
        for (start, length) in parts {
            self.add_part(found, &mut file, *start, *length)?;
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        found: &Found,
        file: &mut Option<File>,
        start: u64,
        length: u64,
    ) -> Result<(), Stop> {
        if let Some(open) = file
            && let Err(reason) = open.seek(SeekFrom::Start(start))
        {
            self.fail(found, reason);
            *file = None;
        }
        let mut piece: Vec<u8> = Vec::with_capacity(PIECE);
        let mut left = length;
        while left > 0 {
            if self.options.control.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            piece.clear();
            if let Some(open) = file {
                match sys::read_spare(raw::borrow(open), &mut piece) {
                    Ok(0) => {
                        let reason = "the file has become shorter, and was filled with zeros";
                        self.fail(found, io::Error::other(reason));
                        *file = None;
                    }
                    Ok(_) => {}
                    Err(errno) => {
                        self.fail(found, errno.into());
                        *file = None;
                    }
                }
            }
            if file.is_none() {
                piece.resize(PIECE, 0);
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            piece.truncate(most);
            self.sink.contents(&piece)?;
            left -= piece.len() as u64;
            self.options.control.moved(piece.len() as u64);
        }
        Ok(())
    }

    fn facts(&self, status: &EntryStatus) -> Facts {
        let (owner, group) = status.owner_and_group();
        let mut facts = Facts {
            mode: status.mode & 0o7777,
            owner: owner.into(),
            group: group.into(),
            modified: status.modified().0,
            size: status.size,
        };
        if self.options.reproducible {
            facts.mode = if facts.mode & 0o100 == 0 {
                0o644
            } else {
                0o755
            };
            facts.owner = 0;
            facts.group = 0;
            facts.modified = 0;
        }
        facts
    }
}
