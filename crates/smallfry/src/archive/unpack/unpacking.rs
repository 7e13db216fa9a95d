//! The unpacking of one archive: files by workers, then links, then what is known of directories.

use std::fs::{File, FileTimes};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallfry_workers::{BatchOptions, Task, TaskContext, run_all};

use super::destination::Destination;
use super::entry::{Input, Later, LinkEntry, Meta};
use super::name;
use super::options::Options;
use super::spread::Spread;
use crate::error::{Error, Operation};
use crate::path::{key_of, max_workers};
use crate::raw;
use crate::sys::{self, Kind, Name, OpenDirectory, OwnedName};
use crate::tree::new_entry;
use crate::tree::probe::Probe;

/// The unpacking of one archive.
pub(super) struct Unpacking<'o> {
    pub(super) options: &'o Options,
    /// The path of the archive, for errors.
    archive: PathBuf,
    pub(super) destination: Destination,
    creations: Probe,
}

/// The contents of the files of an archive.
pub(super) trait Contents: Sync {
    /// The contents of a file, or where they are.
    type Of: Send;
    /// Memory that a worker keeps from one file to the next.
    type Scratch: Default + Send;

    /// Returns the bytes of memory that the contents take until they are written.
    fn weight(&self, of: &Self::Of) -> u64;

    /// Writes the contents of a file.
    fn copy(
        &self,
        of: Self::Of,
        scratch: &mut Self::Scratch,
        file: &mut NewFile<'_>,
    ) -> Result<(), Fault>;
}

/// The reason why a file could not be written.
pub(super) enum Fault {
    /// The archive is to blame.
    Reading(io::Error),
    Writing(io::Error),
    /// The caller has cancelled. It is no error.
    Cancelled,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Reading(error)
    }
}

/// A file that is being written.
pub(super) struct NewFile<'f> {
    file: &'f File,
    length: u64,
}

impl NewFile<'_> {
    /// Writes bytes at the end.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        raw::write_all(raw::borrow(self.file), bytes)
            .map_err(|errno| Fault::Writing(errno.into()))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Leaves a hole, so that the next byte is at `position`.
    pub(super) fn skip_to(&mut self, position: u64) -> Result<(), Fault> {
        let mut file = self.file;
        let skipped = file.seek(SeekFrom::Start(position));
        skipped.map_err(Fault::Writing)?;
        self.length = position;
        Ok(())
    }

    /// Ends a file with holes. The last one may be at its end.
    pub(super) fn end_at(&mut self, length: u64) -> Result<(), Fault> {
        self.length = length;
        self.file.set_len(length).map_err(Fault::Writing)
    }
}

impl<'o> Unpacking<'o> {
    pub(super) fn new(options: &'o Options, archive: &Path, to: &Path) -> Result<Self, Error> {
        Ok(Self {
            options,
            archive: archive.to_owned(),
            destination: Destination::open(to)?,
            creations: Probe::default(),
        })
    }

    /// Notes the error of an entry.
    #[cold]
    pub(super) fn fail(&self, operation: Operation, path: &Path, reason: io::Error) {
        self.destination.fail(operation, path, reason);
    }

    /// Notes that the archive could not be read on.
    #[cold]
    pub(super) fn fail_archive(&self, reason: io::Error) {
        let error = Error::at(Operation::Read, &self.archive, reason);
        self.destination.results.fail(error);
    }

    /// Notes that the archive could not be read at an entry.
    #[cold]
    fn fail_contents(&self, path: &Path, reason: &io::Error) {
        let kind = reason.kind();
        let reason = format!("{}: {reason}", path.display());
        self.fail_archive(io::Error::new(kind, reason));
    }

    /// Unpacks the entries that `inputs` let in.
    pub(super) fn write_all<C: Contents>(
        &self,
        contents: &C,
        inputs: impl Iterator<Item = Input<C::Of>>,
    ) {
        let weight = |of: &_| contents.weight(of);
        // The names of a zip are all there before the first file.
        let may_be_slow = || !self.creations.is_over() || self.creations.is_slow();
        let inputs = Spread::new(inputs, weight, may_be_slow);
        run_all(Writing(self, contents), self.batch_options(), inputs);
    }

    fn batch_options(&self) -> BatchOptions {
        BatchOptions {
            strategy: self.options.strategy,
            max_workers: max_workers(),
            control: self.options.control.clone(),
            ..BatchOptions::default()
        }
    }

    /// Makes links, and gives directories their permissions and times.
    pub(super) fn finish(&self, later: Later) {
        let Later {
            links,
            hard_links,
            directories,
        } = later;
        if self.options.control.is_cancelled() {
            return;
        }
        // Whether a link leads out may depend on a directory that has nothing but links.
        for entry in links.iter().chain(&hard_links) {
            let above = entry.meta.path.parent();
            self.destination.enter(above.unwrap_or(Path::new("")));
        }
        let link = |entry: LinkEntry| self.make_link(&entry);
        smallfry_workers::map(self.options.strategy, links, link);
        // In their order, since one may be the target of the next.
        for entry in hard_links {
            self.make_hard_link(&entry);
        }
        // Those in a directory before it, since its permissions may keep them from being opened.
        let is_exact = self.options.permissions;
        let (open, closed): (Vec<_>, Vec<_>) = directories
            .into_iter()
            .partition(|meta| meta.mode & 0o700 == 0o700);
        let finish = |meta: Meta| self.destination.finish(&meta, is_exact);
        smallfry_workers::map(self.options.strategy, open, finish);
        for meta in closed.into_iter().rev() {
            self.destination.finish(&meta, is_exact);
        }
    }

    /// Writes a file. Returns its length in bytes, or `None` if it was not written.
    pub(super) fn write_file(
        &self,
        meta: &Meta,
        copy: impl FnOnce(&mut NewFile<'_>) -> Result<(), Fault>,
    ) -> Option<u64> {
        let (directory, name) = self.place_of(meta)?;
        match self.write_in(&directory, &name, meta, copy) {
            Ok(length) => {
                if let Some(length) = length {
                    self.written(meta, length);
                }
                length
            }
            Err(Fault::Reading(reason)) => {
                self.fail_contents(&meta.path, &reason);
                None
            }
            Err(Fault::Writing(reason)) => {
                self.fail(Operation::Write, &meta.path, reason);
                None
            }
            Err(Fault::Cancelled) => None,
        }
    }

    fn written(&self, meta: &Meta, length: u64) {
        self.destination.results.add_file(length);
        if let Some(on_entry) = &self.options.on_entry {
            on_entry(&meta.path);
        }
    }

    /// Returns the directory of an entry, and its name there.
    fn place_of(&self, meta: &Meta) -> Option<(Arc<OpenDirectory>, OwnedName)> {
        let directory = meta.path.parent().unwrap_or(Path::new(""));
        let directory = self.destination.enter(directory)?;
        let Some(name) = meta.path.file_name().and_then(sys::name_of) else {
            let reason = io::ErrorKind::InvalidInput.into();
            self.fail(Operation::Open, &meta.path, reason);
            return None;
        };
        Some((directory, name))
    }

    fn write_in(
        &self,
        directory: &OpenDirectory,
        name: &OwnedName,
        meta: &Meta,
        copy: impl FnOnce(&mut NewFile<'_>) -> Result<(), Fault>,
    ) -> Result<Option<u64>, Fault> {
        let created = self.destination.directories.with_descriptors(|| {
            let call = |name: &_| {
                let creation = || directory.create_file(name, meta.mode);
                self.creations.run(creation)
            };
            new_entry::create(directory, name, self.options.existing, |_| Ok(()), call)
        });
        let Some((file, new_entry)) = created.map_err(Fault::Writing)? else {
            return Ok(None);
        };
        let file = File::from(file);
        let mut new_file = NewFile {
            file: &file,
            length: 0,
        };
        copy(&mut new_file)?;
        let length = new_file.length;
        self.finish_file(file, meta)
            .and_then(|()| new_entry.commit())
            .map_err(Fault::Writing)?;
        Ok(Some(length))
    }

    /// Gives a written file its permissions and time, and closes it.
    fn finish_file(&self, file: File, meta: &Meta) -> io::Result<()> {
        if self.options.permissions {
            let mut status = sys::entry_status(raw::borrow(&file))?;
            status.mode = meta.mode;
            sys::set_mode_of(raw::borrow(&file), &status)?;
        }
        if let Some(time) = meta.modified {
            file.set_times(FileTimes::new().set_modified(time))?;
        }
        Ok(raw::close(file.into())?)
    }

    /// Refuses a link that leads out, or that may do so by way of another link.
    fn check_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        if self.options.links_may_leave {
            return Ok(());
        }
        let mut leads_out = name::leads_out(path, target);
        for turn in name::turns(path, target) {
            leads_out |= !self.destination.has_directory(&turn)?;
        }
        if leads_out {
            let reason = format!("the link could lead out of it, to {}", target.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Ok(())
    }

    fn make_link(&self, entry: &LinkEntry) {
        let LinkEntry { meta, target } = entry;
        self.make_name(Operation::Symlink, meta, |directory, name| {
            self.check_link(&meta.path, target)?;
            let leads_to_directory = || self.destination.leads_to_directory(&meta.path, target);
            let target = sys::link_to(target, leads_to_directory);
            let target = target.ok_or(io::ErrorKind::InvalidInput)?;
            let call = |name: &_| directory.make_link(name, &target);
            let existing = self.options.existing;
            let made = new_entry::create(directory, name, existing, |_| Ok(()), call)?;
            let Some(((), new_entry)) = made else {
                return Ok(false);
            };
            new_entry.commit()?;
            if let Some(time) = meta.modified {
                directory.set_modified_of(name, time)?;
            }
            Ok(true)
        });
    }

    fn make_hard_link(&self, entry: &LinkEntry) {
        let LinkEntry { meta, target } = entry;
        self.make_name(Operation::Link, meta, |directory, name| {
            let above = target.parent().unwrap_or(Path::new(""));
            if !self.destination.has_directory(above)? {
                return Err(io::ErrorKind::NotFound.into());
            }
            let from = self.destination.enter(above);
            let from = from.ok_or(io::ErrorKind::NotFound)?;
            let old_name = target.file_name().and_then(sys::name_of);
            let old_name = old_name.ok_or(io::ErrorKind::InvalidInput)?;
            let there = directory.status_of(name).map(|status| status.identity);
            let first = from.status_of(&old_name)?;
            if first.kind == Kind::Link {
                let target = from.read_link(&old_name)?;
                let target = sys::target_path(&target).ok_or(io::ErrorKind::InvalidInput)?;
                // It may be further up than the first name.
                self.check_link(&meta.path, target)?;
            }
            // To rename one name of a file to another one does nothing, and would leave the first.
            if there.is_ok_and(|there| there == first.identity) {
                return Ok(true);
            }
            let call = |name: &_| from.make_hard_link(&old_name, directory, name);
            let existing = self.options.existing;
            let made = new_entry::create(directory, name, existing, |_| Ok(()), call)?;
            let Some(((), new_entry)) = made else {
                return Ok(false);
            };
            new_entry.commit()?;
            Ok(true)
        });
    }

    /// Makes an entry that is a name alone by `make`, which returns false if another one is kept.
    fn make_name(
        &self,
        operation: Operation,
        meta: &Meta,
        make: impl FnOnce(&OpenDirectory, &Name) -> io::Result<bool>,
    ) {
        let Some((directory, name)) = self.place_of(meta) else {
            return;
        };
        match make(&directory, &name) {
            Ok(true) => self.written(meta, 0),
            Ok(false) => {}
            Err(reason) => self.fail(operation, &meta.path, reason),
        }
    }
}

/// The task of writing one entry.
struct Writing<'u, 'o, C>(&'u Unpacking<'o>, &'u C);

impl<C: Contents> Task for Writing<'_, '_, C> {
    type Input = Input<C::Of>;
    /// True if the entry was written.
    type Output = bool;
    type Scratch = C::Scratch;

    fn run(
        &self,
        scratch: &mut C::Scratch,
        input: Self::Input,
        context: &mut TaskContext<'_>,
    ) -> bool {
        let Self(unpacking, contents) = self;
        let length = match input {
            Input::File(meta, of) => {
                unpacking.write_file(&meta, |file| contents.copy(of, scratch, file))
            }
            Input::Directory(path) => unpacking.destination.enter(&path).map(|_| 0),
            Input::Written(length) => Some(length),
        };
        context.moved(usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX));
        length.is_some()
    }

    fn cancelled(&self, _: Self::Input) -> bool {
        false
    }

    fn failed(&self, is_written: &bool) -> bool {
        !is_written
    }

    fn weight(&self, input: &Self::Input) -> u64 {
        match input {
            Input::File(_, of) => self.1.weight(of),
            Input::Directory(_) | Input::Written(_) => 0,
        }
    }

    fn key(&self, input: &Self::Input) -> Option<u64> {
        match input {
            // Only then the archive may have two entries of one name.
            Input::File(meta, _) if self.0.options.last_wins => Some(key_of(&meta.path)),
            _ => None,
        }
    }
}
