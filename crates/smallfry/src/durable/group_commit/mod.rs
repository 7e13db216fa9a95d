//! Group commit: many files are written, flushed together, and then renamed.
//!
//! Where `syncfs` is a barrier, one call flushes any number of files ([`flush_file_systems`]). It
//! also flushes the writes of other programs, so it is chosen only while there are few of them
//! ([`file_systems`]). Files whose file system is chosen are closed at once, since `syncfs` reports
//! their errors. Elsewhere each file is flushed by the descriptor that wrote it, many at once,
//! while the next ones are written ([`flush_files`]).
//!
//! One lock guards the whole state ([`batch`]). Each part of it has a file of its own, which alone
//! changes it: [`open_files`], [`flushers`], [`file_systems`], [`directories`] and [`failures`].

mod batch;
mod directories;
mod failures;
mod file_systems;
mod flush_directories;
mod flush_file_systems;
mod flush_files;
mod flushers;
mod open_files;
mod rename;
mod written;

use std::io;
use std::path::Path;
use std::sync::Arc;

use self::batch::Batch;
use self::file_systems::NO_FILE_SYSTEM;
use self::rename::copy_all;
use self::written::Written;
use super::flush::has_failed;
use super::target::Target;
use super::temporary_file::TemporaryFile;
use crate::errno::is_out_of_descriptors;
use crate::error::{Error, Operation};
use crate::path::Base;
use crate::path::parents::Parents;
use crate::raw;
use crate::sys;
use crate::write::one::{find_unchanged, open_and_write};
use crate::write::{Durability, Outcome, WriteOptions};

/// The files of a batch that are to be durable. If it is dropped before it is
/// [finished](Self::finish), it leaves no thread and no temporary file.
#[derive(Debug)]
pub(crate) struct GroupCommit {
    batch: Arc<Batch>,
    parents: Parents,
}

impl GroupCommit {
    /// Makes a group commit for any number of files.
    pub(crate) fn new(options: &WriteOptions, base: &Base) -> Self {
        Self::of(options, base, true)
    }

    /// Makes a group commit for one file.
    pub(crate) fn for_one(options: &WriteOptions) -> Self {
        Self::of(options, &Base::default(), false)
    }

    fn of(options: &WriteOptions, base: &Base, is_for_many: bool) -> Self {
        Self {
            batch: Arc::new(Batch::new(options, base, is_for_many)),
            parents: Parents::recording(),
        }
    }

    /// Writes a file, or leaves an unchanged one alone. It waits to be flushed until
    /// [`finish`](Self::finish). `index` is its number in the batch.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8], index: usize) -> Result<Outcome, Error> {
        let is_out = |done: &Result<_, Error>| {
            let is_out = |error: &Error| is_out_of_descriptors(error.io_error());
            done.as_ref().is_err_and(is_out)
        };
        // The open files of this batch may have taken all descriptors, so they are flushed first.
        let mut done = self.try_to_write(&self.batch.no_wait, path, bytes, index);
        while is_out(&done) && self.flush_open() {
            done = self.try_to_write(&self.batch.no_wait, path, bytes, index);
        }
        if is_out(&done) {
            return self.try_to_write(&self.batch.base, path, bytes, index);
        }
        done
    }

    fn try_to_write(
        &self,
        base: &Base,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<Outcome, Error> {
        let options = &self.batch.options;
        options.check(path)?;
        if options.only_if_changed && self.is_unchanged(base, path, bytes, index)? {
            return Ok(Outcome::Unchanged);
        }
        if options.replace {
            self.write_temporary_file(base, path, bytes, index)?;
            return Ok(Outcome::Written);
        }
        self.batch.check_directory(base, path)?;
        let mut file_system = NO_FILE_SYSTEM;
        let file = open_and_write(options, path, bytes, |flags| {
            let file = self.create(base, path, || base.open(path, flags, options.mode))?;
            file_system = self.batch.enter(&file);
            Ok(file)
        })?;
        let written = Written::new(index, path, file_system, file, None);
        self.add(written, bytes.len())?;
        Ok(Outcome::Written)
    }

    /// Returns true if the file holds `bytes`. It then waits to be flushed, since it may never have
    /// been.
    fn is_unchanged(
        &self,
        base: &Base,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<bool, Error> {
        let options = &self.batch.options;
        let is_flushed = options.durability != Durability::None;
        // The system may show bytes that it failed to write.
        if is_flushed && has_failed() {
            return Ok(false);
        }
        if self.batch.lock().open.knows(path) {
            // An earlier entry for this path may still fail.
            return Ok(false);
        }
        let access = if is_flushed { sys::FLUSHABLE } else { 0 };
        let open = |flags| base.open(path, access | flags, 0);
        let Some(file) = find_unchanged(bytes, open) else {
            return Ok(false);
        };
        if is_flushed {
            let file_system = self.batch.enter(&file);
            self.add(Written::new(index, path, file_system, file, None), 0)?;
        }
        Ok(true)
    }

    fn write_temporary_file(
        &self,
        base: &Base,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<(), Error> {
        let options = &self.batch.options;
        if !base.can_rename() {
            let reason = "replacing files beneath a directory is not possible on this system";
            let reason = io::Error::new(io::ErrorKind::Unsupported, reason);
            return Err(Error::at(Operation::Rename, path, reason));
        }
        let Target { path: target, old } = Target::find(base, path, options.append)?;
        // The working directory may change before the temporary file is renamed or removed.
        let target = base.absolute(target);
        let may_have_list = self.batch.check_directory(base, &target)?;
        let mode = old.as_ref().map(|old| old.attributes.temporary_mode());
        let mode = mode.unwrap_or(options.mode);
        let (temporary, file) =
            self.create(base, path, || TemporaryFile::create(base, &target, mode))?;
        let file_system = self.batch.enter(&file);
        let failed = |(operation, reason)| Error::at(operation, path, reason);
        if let Some(old) = &old {
            // The attributes come before the contents, which may be private.
            let given = old.attributes.give(raw::borrow(&file), may_have_list);
            given.map_err(failed)?;
            if let Some(old) = &old.file {
                copy_all(old, &file).map_err(|reason| Error::at(Operation::Copy, path, reason))?;
            }
        }
        raw::write_all(raw::borrow(&file), bytes)
            .map_err(|reason| Error::at(Operation::Write, path, reason))?;
        if let Some(old) = old {
            let done = old.attributes.give_privileges(raw::borrow(&file));
            done.map_err(failed)?;
            // The old file is closed here: on Windows and on file servers an open file may not be
            // replaced.
        }
        let temporary = Some((temporary, target));
        let mut written = Written::new(index, path, file_system, file, temporary);
        if options.durability == Durability::None {
            written.close()?;
            return self.batch.rename(&mut written);
        }
        self.add(written, bytes.len())
    }

    /// Opens a new file, and creates missing directories if the options say so. Errors name the
    /// caller's path.
    fn create<T>(
        &self,
        base: &Base,
        path: &Path,
        mut open: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let options = &self.batch.options;
        let opened = if options.create_parents {
            // Targets are absolute, and created directories must compare with theirs.
            let absolute = options.replace.then(|| base.absolute(path.to_owned()));
            let path = absolute.as_deref().unwrap_or(path);
            self.parents.retry(base, path, open)
        } else {
            open()
        };
        opened.map_err(|error| match error.operation() {
            Operation::Open => Error::at(Operation::Open, path, error.into_io_error()),
            _ => error,
        })
    }

    /// Adds a written file. Returns the error of closing it; [`finish`](Self::finish) returns later
    /// ones.
    fn add(&self, mut written: Written, length: usize) -> Result<(), Error> {
        let (index, file_system) = (written.index, written.file_system);
        if self.batch.lock().should_begin_writeback(file_system) {
            written.begin_writeback();
        }
        let is_for_many = self.batch.is_for_many;
        let mut state = self.batch.lock();
        let to_close = state.add(written, length);
        let may_be_whole = state.file_systems.may_be_flushed_whole(file_system);
        let should_wake = is_for_many && state.flushers.should_wake(&state.open, may_be_whole);
        let is_full = is_for_many && state.open.is_full();
        drop(state);
        let mut done = Ok(());
        for it in to_close {
            let Err(reason) = raw::close(it.file) else {
                continue;
            };
            let error = Error::at(Operation::Close, &it.path, reason);
            let mut state = self.batch.lock();
            state.file_systems.drop_covered(it.index);
            if it.index == index {
                done = Err(error);
            } else {
                state.failures.add(it.index, error);
            }
        }
        if should_wake {
            self.batch.wake_flusher();
        }
        if is_full {
            self.batch.make_room();
        }
        done
    }

    /// Flushes all open files. Returns true if there were any.
    fn flush_open(&self) -> bool {
        let any = self.batch.lock().open.count() > 0;
        self.batch.flush_open();
        any
    }

    /// Flushes all files and the names that the level asks for. Returns the errors with the numbers
    /// of their files.
    pub(crate) fn finish(&self) -> Vec<(usize, Error)> {
        self.batch.flush_open();
        self.batch.end_flushers();
        let batch = &*self.batch;
        batch.flush_covered();
        if batch.options.durability == Durability::Full && sys::FLUSHES_DIRECTORIES {
            batch.flush_directories(&self.parents);
        }
        let mut state = batch.lock();
        let failures = state.failures.take();
        state.file_systems.close();
        drop(state);
        failures
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        // Files of an unfinished batch are not flushed, and their temporary files are removed.
        let left = {
            let mut state = self.batch.lock();
            (state.open.take_all(), state.file_systems.take_covered())
        };
        drop(left);
        self.batch.end_flushers();
    }
}
