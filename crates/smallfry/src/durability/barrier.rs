//! One barrier for many files: all are written, then flushed together, then named.
//!
//! Where the file system can be flushed whole ([`WholeFileSystem`]), that is one wait for any number of files. It also waits for
//! what others have written, so it is chosen only while there is not much of that for the files it would serve; and once it is
//! chosen, files need not stay open, since it reports what goes wrong with any of them. Elsewhere each file is flushed by
//! the descriptor that wrote it, as many at once as is of use, while the next ones are written.

mod at_once;
mod directories;
mod flushers;
mod queue;
mod whole;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use self::directories::Named;
use self::queue::{NO_FILE_SYSTEM, Queue, Written};
use super::target::{Target, without_links};
use super::temporary_file::TemporaryFile;
use super::{Durability, has_failed, note_failure};
use crate::bulk::place::Place;
use crate::error::{Error, Operation};
use crate::fs::{COMPARE_FLAGS, Outcome, WriteOptions, is_file_of, overwrite};
use crate::parents::Parents;
use crate::raw::{self, OwnedFile, is_out_of_descriptors};
use crate::sys;

/// A batch of files on their way to the disk. Dropped before it is [finished](Self::finish) it leaves no thread and no temporary file.
#[derive(Debug)]
pub(crate) struct Barrier {
    batch: Arc<Batch>,
    parents: Parents,
}

/// What the threads of a barrier share.
#[derive(Debug)]
struct Batch {
    options: WriteOptions,
    place: Place,
    /// Where nobody waits for descriptors.
    hasty: Place,
    /// Whether there may be enough files to flush a file system whole.
    is_for_many: bool,
    queue: Mutex<Queue>,
    /// A file waits, or none will any more.
    waits: Condvar,
    /// A file has been flushed.
    done: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Barrier {
    /// For any number of files.
    pub(crate) fn new(options: &WriteOptions, place: &Place) -> Self {
        Self::of(options, place, true)
    }

    /// For one file.
    pub(crate) fn for_one(options: &WriteOptions) -> Self {
        Self::of(options, &Place::default(), false)
    }

    fn of(options: &WriteOptions, place: &Place, is_for_many: bool) -> Self {
        let batch = Arc::new(Batch {
            options: options.clone(),
            place: place.clone(),
            hasty: place.without_patience(),
            is_for_many,
            queue: Mutex::new(Queue::new(is_for_many)),
            waits: Condvar::new(),
            done: Condvar::new(),
            threads: Mutex::default(),
        });
        Self {
            batch,
            parents: Parents::recording(),
        }
    }

    /// Writes a file and has it wait, or leaves one alone that holds the right bytes already and has that wait, for
    /// [`finish`](Self::finish). `index` is its number in the batch.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8], index: usize) -> Result<Outcome, Error> {
        let is_out = |done: &Result<_, Error>| {
            let is_out = |error: &Error| is_out_of_descriptors(error.io_error());
            done.as_ref().is_err_and(is_out)
        };
        // Files that wait here may be what is in the way, so who finds no descriptor flushes them instead of waiting.
        let mut done = self.try_to_write(&self.batch.hasty, path, bytes, index);
        while is_out(&done) && self.flush_open() {
            done = self.try_to_write(&self.batch.hasty, path, bytes, index);
        }
        if is_out(&done) {
            return self.try_to_write(&self.batch.place, path, bytes, index);
        }
        done
    }

    fn try_to_write(
        &self,
        place: &Place,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<Outcome, Error> {
        let options = &self.batch.options;
        options.check_replaceable(path)?;
        if options.only_if_changed {
            options.check_comparable(path)?;
            if self.is_unchanged(place, path, bytes, index)? {
                return Ok(Outcome::Unchanged);
            }
        }
        if options.replace {
            self.write_temporary_file(place, path, bytes, index)?;
            return Ok(Outcome::Written);
        }
        self.look_at_directory(place, path)?;
        let overwriting = options.overwriting_flags(bytes.len());
        let mut file = self.create(place, path, || {
            place.open(path, overwriting.unwrap_or(options.flags()), options.mode)
        })?;
        let file_system = self.batch.enter(&file);
        if overwriting.is_some() {
            file = overwrite(file, bytes)
                .map_err(|(operation, reason)| Error::at(operation, path, reason))?;
        } else {
            write_all(&file, bytes, path)?;
        }
        let written = Written::new(index, path, file_system, file, None);
        self.add(written, bytes.len())?;
        Ok(Outcome::Written)
    }

    /// Whether the file holds `bytes`; if so it waits to be flushed, since nobody knows whether it was.
    fn is_unchanged(
        &self,
        place: &Place,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<bool, Error> {
        let is_flushed = self.batch.options.durability != Durability::None;
        // The system may hold bytes that it failed to write, and take them for written.
        if is_flushed && has_failed() {
            return Ok(false);
        }
        if self.batch.lock().knows(path) {
            // Something else is about to take its place, or is being flushed: nobody knows yet whether that fails.
            return Ok(false);
        }
        let access = if is_flushed { sys::FLUSHABLE } else { 0 };
        let Ok(file) = place.open(path, access | COMPARE_FLAGS, 0) else {
            return Ok(false);
        };
        if !is_file_of(raw::borrow(&file), bytes) {
            return Ok(false);
        }
        if is_flushed {
            let file_system = self.batch.enter(&file);
            self.add(Written::new(index, path, file_system, file, None), 0)?;
        }
        Ok(true)
    }

    fn write_temporary_file(
        &self,
        place: &Place,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<(), Error> {
        let options = &self.batch.options;
        if !place.can_rename() {
            let reason = "replacing files beneath a directory is not possible on this system";
            let reason = io::Error::new(io::ErrorKind::Unsupported, reason);
            return Err(Error::at(Operation::Rename, path, reason));
        }
        let Target { path: target, old } = Target::find(place, path, options.append)?;
        // Whatever directory the process is in when the temporary file is renamed, or removed.
        let target = place.absolute(target);
        let may_have_list = self.look_at_directory(place, &target)?;
        let mode = old.as_ref().map(|old| old.attributes.temporary_mode());
        let mode = mode.unwrap_or(options.mode);
        let (temporary, file) =
            self.create(place, path, || TemporaryFile::create(place, &target, mode))?;
        let file_system = self.batch.enter(&file);
        let failed = |(operation, reason)| Error::at(operation, path, reason);
        if let Some(old) = &old {
            // Before anything is written that not everybody may read.
            let given = old.attributes.give(raw::borrow(&file), may_have_list);
            given.map_err(failed)?;
            if let Some(old) = &old.file {
                copy_all(old, &file).map_err(|reason| Error::at(Operation::Copy, path, reason))?;
            }
        }
        write_all(&file, bytes, path)?;
        if let Some(old) = old {
            let done = old.attributes.give_privileges(raw::borrow(&file));
            done.map_err(failed)?;
            // Closed here: where it is open it may not be replaced, on Windows and on file servers.
        }
        let temporary = Some((temporary, target));
        let mut written = Written::new(index, path, file_system, file, temporary);
        if options.durability == Durability::None {
            written.close()?;
            return self.batch.name(&mut written);
        }
        self.add(written, bytes.len())
    }

    /// Finds out, before anything is changed in it, whether a directory can be opened to be flushed. Whether new files may be
    /// given an access control list by it.
    fn look_at_directory(&self, place: &Place, path: &Path) -> Result<bool, Error> {
        let options = &self.batch.options;
        if options.durability != Durability::Full || !sys::FLUSHES_DIRECTORIES {
            return Ok(true);
        }
        let directory = directory_of(path);
        if let Some(gives_list) = self.batch.lock().directories.get(directory) {
            return Ok(*gives_list);
        }
        let opened = match place.open_directory(directory) {
            Ok(opened) => opened,
            // It may yet be made, or the file's own error tells more.
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
        let mut queue = self.batch.lock();
        queue.directories.insert(directory.to_owned(), gives_list);
        Ok(gives_list)
    }

    /// Opens a new file, in directories that are made if that is asked for. Errors are told of the path that the caller knows.
    fn create<T>(
        &self,
        place: &Place,
        path: &Path,
        mut open: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let opened = if self.batch.options.create_parents {
            // As a temporary file's place: the directories that are made are those that files are found in later.
            let absolute = self
                .batch
                .options
                .replace
                .then(|| place.absolute(path.to_owned()));
            let path = absolute.as_deref().unwrap_or(path);
            self.parents.retry(place, path, open)
        } else {
            open()
        };
        opened.map_err(|error| match error.operation() {
            Operation::Open => Error::at(Operation::Open, path, error.into_io_error()),
            _ => error,
        })
    }

    /// Has a written file wait. Its errors are told by [`finish`](Self::finish), but for that of closing it.
    fn add(&self, mut written: Written, length: usize) -> Result<(), Error> {
        let index = written.index;
        if self.batch.lock().is_to_begin(written.file_system) {
            written.begin();
        }
        let mut queue = self.batch.lock();
        let covered = queue.add(written, length);
        let is_worth_a_call = self.batch.is_for_many && queue.is_worth_a_call();
        let is_full = self.batch.is_for_many && queue.is_full();
        drop(queue);
        let mut done = Ok(());
        for (of, path, file) in covered {
            let Err(reason) = raw::close(file) else {
                continue;
            };
            let error = Error::at(Operation::Close, &path, reason);
            // Its temporary file goes with it.
            self.batch.lock().drop_covered(of);
            if of == index {
                done = Err(error);
            } else {
                self.batch.lock().failures.push((of, error));
            }
        }
        if is_worth_a_call {
            self.batch.call_flusher();
        }
        if is_full {
            self.batch.make_room();
        }
        done
    }

    /// Flushes all files that are open. Whether there were any.
    fn flush_open(&self) -> bool {
        let any = self.batch.lock().count_open() > 0;
        self.batch.flush_open();
        any
    }

    /// Flushes everything that waits and all names that the level asks for. Gives the errors by the numbers of their files.
    pub(crate) fn finish(&self) -> Vec<(usize, Error)> {
        self.batch.flush_open();
        self.batch.end_flushers();
        let batch = &*self.batch;
        batch.flush_covered();
        if batch.options.durability == Durability::Full && sys::FLUSHES_DIRECTORIES {
            batch.flush_directories(&self.parents);
        }
        let mut queue = batch.lock();
        let mut failures = std::mem::take(&mut queue.failures);
        // They have a file open, which keeps a program from being run and a disk from being unmounted.
        queue.file_systems.clear();
        drop(queue);
        // The first of each file is the reason of those after it.
        failures.sort_by_key(|(index, _)| *index);
        failures.dedup_by_key(|(index, _)| *index);
        failures
    }
}

impl Drop for Barrier {
    fn drop(&mut self) {
        // What nobody has asked to finish is not flushed any more, and temporary files go.
        let left = self.batch.lock().take_all();
        drop(left);
        self.batch.end_flushers();
    }
}

impl Batch {
    /// The number of the file system that an open file is on. What is written to it from now on is known to the barrier.
    fn enter(&self, file: &OwnedFile) -> usize {
        if !self.is_for_many || self.options.durability == Durability::None {
            return NO_FILE_SYSTEM;
        }
        // What is written to a device is not its directory's file system's.
        match sys::device_of_regular(raw::borrow(file)) {
            Some(device) => self.lock().enter(device, file),
            None => NO_FILE_SYSTEM,
        }
    }

    fn flush_one(&self, written: &mut Written) -> Result<(), Error> {
        if let Some(file) = &written.file {
            // What a temporary file was given of the old file is metadata, which a flush of contents may leave out.
            let level = match written.temporary {
                Some(_) => Durability::Full,
                None => self.options.durability,
            };
            level
                .flush(raw::borrow(file))
                .map_err(|(operation, reason)| Error::at(operation, &written.path, reason))?;
        }
        written.close()?;
        self.name(written)
    }

    /// Gives a temporary file its target's name, once its contents are on the disk. A file without a temporary file has its name.
    fn name(&self, written: &mut Written) -> Result<(), Error> {
        if let Some(reason) = written.failed.take() {
            note_failure();
            return Err(Error::at(Operation::Fsync, &written.path, reason));
        }
        let Some((temporary, target)) = &mut written.temporary else {
            return Ok(());
        };
        let level = self.options.durability;
        match temporary.rename(target, level == Durability::Full) {
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && self.options.in_place_if_busy =>
            {
                write_in_place(&self.place, temporary.path(), target, level).map_err(|error| {
                    Error::at(error.operation(), &written.path, error.into_io_error())
                })
            }
            done => done,
        }
    }

    /// What came of a file: its error, or a name that may have to be flushed still.
    fn record(&self, written: Written, done: Result<(), Error>, is_covered: bool) {
        if let Err(error) = done {
            self.lock().failures.push((written.index, error));
            return;
        }
        // One that was there, under its name, when its file system was flushed has nothing left to wait for.
        let is_named = self.options.durability != Durability::Full
            || is_covered && written.temporary.is_none();
        let target = match written.temporary {
            Some((_, target)) => target,
            None if is_named || !sys::FLUSHES_DIRECTORIES => written.path,
            None => match without_links(&self.place, &written.path) {
                Ok(target) => target,
                Err(error) => {
                    self.lock().failures.push((written.index, error));
                    return;
                }
            },
        };
        let file = Named {
            index: written.index,
            path: target,
            file_system: written.file_system,
        };
        self.lock().dirs.add(file, is_named);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directory that a path is in; empty for the current one.
fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn write_all(file: &OwnedFile, bytes: &[u8], path: &Path) -> Result<(), Error> {
    raw::write_all(raw::borrow(file), bytes)
        .map_err(|reason| Error::at(Operation::Write, path, reason))
}

/// Copies what `from` holds from its position on, and leaves both open.
fn copy_all(from: &OwnedFile, to: &OwnedFile) -> io::Result<()> {
    let file = |file: &OwnedFile| file.try_clone().map(File::from);
    io::copy(&mut file(from)?, &mut file(to)?).map(drop)
}

/// Writes what a temporary file holds into the file that is there.
fn write_in_place(
    place: &Place,
    temporary: &Path,
    target: &Path,
    level: Durability,
) -> Result<(), Error> {
    let from = place.open(temporary, raw::O_RDONLY, 0)?;
    let to = place.open(target, raw::O_WRONLY | raw::O_TRUNC, 0)?;
    copy_all(&from, &to)
        .map_err(|reason| Error::between(Operation::Copy, temporary, target, reason))?;
    level
        .flush(raw::borrow(&to))
        .map_err(|(operation, reason)| Error::at(operation, target, reason))?;
    raw::close(to).map_err(|reason| Error::at(Operation::Close, target, reason))
}
