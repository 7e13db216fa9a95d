//! One barrier for many files: all are written, then flushed together, then named.
//!
//! Where the file system can be flushed whole ([`WholeFileSystem`]), that is one wait for any number of files. It also waits for
//! what others have written, so it is chosen only while there is not much of that for the files it would serve; and once it is
//! chosen, files need not stay open, since it reports what goes wrong with any of them. Elsewhere each file is flushed by
//! the descriptor that wrote it, as many at once as is of use, in chunks of as many as may be open.

mod at_once;
mod folders;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::at_once::at_once;
use self::folders::{Folders, Named};
use super::Durability;
use super::draft::Draft;
use super::target::{Target, without_links};
use crate::bulk::place::{Place, key_of};
use crate::error::{Error, Operation, copy_of};
use crate::fs::{COMPARE_FLAGS, Outcome, WriteOptions, is_file_of};
use crate::parents::Parents;
use crate::raw::{self, OwnedFile, is_out_of_descriptors};
use crate::sys::{self, WholeFileSystem};

/// Fewer files are flushed one by one: at most that many waits, all at once.
const FEWEST_FOR_WHOLE: usize = 8;
/// What others have still to write, for each file, where flushing the whole file system is worth it. In bytes: a disk that
/// writes 100 MB/s needs 1.3 ms for it, about what a flush costs.
const UNWRITTEN_PER_FILE: u64 = 128 << 10;
/// Files that stay open before the first are flushed. Linux stops a process with several threads for 10 to 20 ms whenever its
/// table of descriptors has to grow, which it does past 64; where flushing is fast that is a loss.
const FIRST_OPEN: usize = 24;
/// Files that stay open where flushing is slow.
const MOST_OPEN: usize = 1024;
/// A chunk that took longer to flush was worth waiting for more files.
const SLOW: Duration = Duration::from_millis(2);

/// Whether a flush has failed in this process: from then on no file is taken for right already because it reads as it should.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

fn note_failure() {
    HAS_FAILED.store(true, Ordering::Relaxed);
}

/// In place of a number: nobody asks.
const NO_FILE_SYSTEM: usize = usize::MAX;

/// A batch of files on their way to the disk.
#[derive(Debug)]
pub(crate) struct Barrier {
    options: WriteOptions,
    /// Whether there may be enough files to flush a file system whole.
    is_for_many: bool,
    state: Mutex<State>,
    /// Chunks are flushed one after the other: of two for one path the later is renamed later.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Files that were written and are not named yet, in an order in which those of one path follow each other.
    waiting: Vec<Written>,
    /// How many of them are open.
    open: usize,
    /// How many may be.
    most_open: usize,
    file_systems: Vec<FileSystem>,
    /// Names that are to be flushed.
    folders: Folders,
    /// Directories that can be opened.
    checked: HashSet<PathBuf>,
    /// Paths of drafts that were made, by their keys.
    drafts: HashSet<u64>,
    failures: Vec<(usize, Error)>,
}

/// A file system that the batch writes to.
#[derive(Debug)]
struct FileSystem {
    device: Option<u64>,
    /// Opened before the first write.
    whole: Option<Arc<WholeFileSystem>>,
    /// It will be flushed whole.
    is_chosen: bool,
    /// It was, without an error.
    is_flushed: bool,
    /// Why it could not be: for good.
    failed: Option<io::Error>,
    files: usize,
    bytes: u64,
}

/// A file that was written, and is to be flushed and perhaps renamed.
#[derive(Debug)]
struct Written {
    index: usize,
    /// As the caller has it.
    path: PathBuf,
    /// By its number in the batch.
    file_system: usize,
    /// `None` once it is covered by its file system.
    file: Option<OwnedFile>,
    draft: Option<(Draft, PathBuf)>,
}

impl Barrier {
    /// For any number of files.
    pub(crate) fn new(options: &WriteOptions) -> Self {
        Self {
            is_for_many: true,
            ..Self::for_one(options)
        }
    }

    /// For one file.
    pub(crate) fn for_one(options: &WriteOptions) -> Self {
        Self {
            options: options.clone(),
            is_for_many: false,
            state: Mutex::new(State {
                most_open: FIRST_OPEN.min(most_open()),
                ..State::default()
            }),
            turn: Mutex::new(()),
        }
    }

    /// Writes a file and has it wait, or leaves one alone that holds the right bytes already and has that wait, for
    /// [`finish`](Self::finish). `index` is its number in the batch.
    pub(crate) fn write(
        &self,
        place: &Place,
        parents: &Parents,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<Outcome, Error> {
        let is_out = |done: &Result<_, Error>| {
            let is_out = |error: &Error| is_out_of_descriptors(error.io_error());
            done.as_ref().is_err_and(is_out)
        };
        // Files that wait here may be what is in the way, so who finds no descriptor flushes them instead of waiting.
        let hasty = place.without_patience();
        let mut done = self.try_to_write(&hasty, parents, path, bytes, index);
        while is_out(&done) && self.lock().open > 0 {
            self.flush_open(place);
            done = self.try_to_write(&hasty, parents, path, bytes, index);
        }
        if is_out(&done) {
            return self.try_to_write(place, parents, path, bytes, index);
        }
        done
    }

    fn try_to_write(
        &self,
        place: &Place,
        parents: &Parents,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<Outcome, Error> {
        let options = &self.options;
        options.check_replaceable(path)?;
        if options.only_if_changed {
            options.check_comparable(path)?;
            if self.is_unchanged(place, path, bytes, index)? {
                return Ok(Outcome::Unchanged);
            }
        }
        if options.replace {
            self.write_draft(place, parents, path, bytes, index)?;
            return Ok(Outcome::Written);
        }
        self.check_directory(place, path)?;
        let file = self.create(place, parents, path, || {
            place.open(path, options.flags(), options.mode)
        })?;
        let file_system = self.enter(&file);
        write_all(&file, bytes, path)?;
        let written = Written {
            index,
            path: path.to_owned(),
            file_system,
            file: Some(file),
            draft: None,
        };
        self.add(place, written, bytes.len())?;
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
        let is_flushed = self.options.durability != Durability::None;
        // The system may hold bytes that it failed to write, and take them for written.
        if is_flushed && HAS_FAILED.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if self.lock().drafts.contains(&key_of(path)) {
            // Something else is about to take its place.
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
            let written = Written {
                index,
                path: path.to_owned(),
                file_system: self.enter(&file),
                file: Some(file),
                draft: None,
            };
            self.add(place, written, 0)?;
        }
        Ok(true)
    }

    fn write_draft(
        &self,
        place: &Place,
        parents: &Parents,
        path: &Path,
        bytes: &[u8],
        index: usize,
    ) -> Result<(), Error> {
        let options = &self.options;
        if !place.can_rename() {
            let reason = "replacing files beneath a directory is not possible on this system";
            let reason = io::Error::new(io::ErrorKind::Unsupported, reason);
            return Err(Error::at(Operation::Rename, path, reason));
        }
        let Target { path: target, old } = Target::find(place, path, options.append)?;
        // Whatever directory the process is in when the draft is renamed, or removed.
        let target = place.absolute(target);
        self.check_directory(place, &target)?;
        let mode = old.as_ref().map(|old| old.attributes.draft_mode());
        let mode = mode.unwrap_or(options.mode);
        let (draft, file) =
            self.create(place, parents, path, || Draft::create(place, &target, mode))?;
        let file_system = self.enter(&file);
        let failed = |(operation, reason)| Error::at(operation, path, reason);
        if let Some(old) = &old {
            // Before anything is written that not everybody may read.
            old.attributes.give(raw::borrow(&file)).map_err(failed)?;
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
        let mut written = Written {
            index,
            path: path.to_owned(),
            file_system,
            file: Some(file),
            draft: Some((draft, target)),
        };
        if options.durability == Durability::None {
            written.close()?;
            return self.name(place, &mut written);
        }
        self.add(place, written, bytes.len())
    }

    /// Finds out, before anything is changed in it, whether a directory can be opened to be flushed.
    fn check_directory(&self, place: &Place, path: &Path) -> Result<(), Error> {
        if self.options.durability != Durability::Full || !sys::FLUSHES_DIRECTORIES {
            return Ok(());
        }
        let directory = directory_of(path);
        if self.lock().checked.contains(directory) {
            return Ok(());
        }
        match place.open_directory(directory) {
            Ok(_) => {}
            // It may yet be made, or the file's own error tells more.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(());
            }
            Err(reason) => return Err(Error::at(Operation::Open, directory, reason)),
        }
        self.lock().checked.insert(directory.to_owned());
        Ok(())
    }

    /// Opens a new file, in directories that are made if that is asked for. Errors are told of the path that the caller knows.
    fn create<T>(
        &self,
        place: &Place,
        parents: &Parents,
        path: &Path,
        mut open: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let opened = if self.options.create_parents {
            parents.retry(place, path, open)
        } else {
            open()
        };
        opened.map_err(|error| match error.operation() {
            Operation::Open => Error::at(Operation::Open, path, error.into_io_error()),
            _ => error,
        })
    }

    /// The number of the file system that an open file is on. What is written to it from now on is known to the barrier.
    fn enter(&self, file: &OwnedFile) -> usize {
        if !self.is_for_many || self.options.durability == Durability::None {
            return NO_FILE_SYSTEM;
        }
        // What is written to a device is not its directory's file system's.
        let device = sys::device_of_regular(raw::borrow(file));
        if device.is_none() {
            return NO_FILE_SYSTEM;
        }
        let mut state = self.lock();
        let mut known = state.file_systems.iter();
        known.position(|it| it.device == device).unwrap_or_else(|| {
            let whole = WholeFileSystem::of(raw::borrow(file)).map(Arc::new);
            state.file_systems.push(FileSystem {
                device,
                whole,
                is_chosen: false,
                is_flushed: false,
                failed: None,
                files: 0,
                bytes: 0,
            });
            state.file_systems.len() - 1
        })
    }

    /// Has a written file wait. Its errors are told by [`finish`](Self::finish), but for that of closing it.
    fn add(&self, place: &Place, mut written: Written, length: usize) -> Result<(), Error> {
        let mut state = self.lock();
        let is_covered = state.count(written.file_system, length);
        if is_covered {
            drop(state);
            written.close()?;
            state = self.lock();
        } else {
            state.open += 1;
        }
        if written.draft.is_some() {
            state.drafts.insert(key_of(&written.path));
        }
        state.waiting.push(written);
        let covered = state.take_covered();
        let is_full = state.open >= state.most_open;
        drop(state);
        for (index, path, file) in covered {
            if let Err(reason) = raw::close(file) {
                let mut state = self.lock();
                // Its draft goes with it.
                state.waiting.retain(|written| written.index != index);
                let error = Error::at(Operation::Close, &path, reason);
                state.failures.push((index, error));
            }
        }
        if is_full {
            let began = Instant::now();
            self.flush_open(place);
            if began.elapsed() > SLOW {
                self.lock().most_open = most_open();
            }
        }
        Ok(())
    }

    /// Flushes those of the waiting files that are open, and gives drafts their names.
    fn flush_open(&self, place: &Place) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let waiting = std::mem::take(&mut state.waiting);
        let (open, closed): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|it| it.file.is_some());
        state.waiting = closed;
        state.open = 0;
        drop(state);
        at_once(by_path(open), |group| {
            for mut written in group {
                let done = self.flush_one(place, &mut written);
                self.record(place, written, done, false);
            }
        });
    }

    fn flush_one(&self, place: &Place, written: &mut Written) -> Result<(), Error> {
        if let Some(file) = &written.file {
            // What a draft was given of the old file is metadata, which a flush of contents may leave out.
            let level = match written.draft {
                Some(_) => Durability::Full,
                None => self.options.durability,
            };
            level
                .flush(raw::borrow(file))
                .map_err(|(operation, reason)| {
                    note_failure();
                    Error::at(operation, &written.path, reason)
                })?;
        }
        written.close()?;
        self.name(place, written)
    }

    /// Flushes the file systems that hold all of these. If one reports an error every file of the batch on it has that error:
    /// nobody knows whose it is.
    fn flush_covered(&self, place: &Place, covered: Vec<Written>) {
        let mut failed = Vec::new();
        let count = self.lock().file_systems.len();
        for number in 0..count {
            if covered.iter().any(|written| written.file_system == number)
                && let Err(reason) = self.flush_whole(number)
            {
                self.fail_all(number, &reason);
                failed.push((number, reason));
            }
        }
        for mut written in covered {
            let number = written.file_system;
            let done = match failed.iter().find(|(of, _)| *of == number) {
                Some((_, reason)) => {
                    let reason = copy_of(reason);
                    Err(Error::at(Operation::Syncfs, &written.path, reason))
                }
                None => self.name(place, &mut written),
            };
            self.record(place, written, done, true);
        }
    }

    /// Once more, after names have changed, too; but not after an error.
    fn flush_whole(&self, number: usize) -> io::Result<()> {
        let whole = match &self.lock().file_systems[number] {
            FileSystem {
                failed: Some(reason),
                ..
            } => return Err(copy_of(reason)),
            FileSystem { whole, .. } => whole.clone(),
        };
        let done = whole.map_or(Ok(()), |whole| whole.flush());
        let mut state = self.lock();
        let file_system = &mut state.file_systems[number];
        match done {
            Ok(()) => file_system.is_flushed = true,
            Err(error) => {
                note_failure();
                file_system.failed = Some(error.into());
            }
        }
        match &file_system.failed {
            Some(reason) => Err(copy_of(reason)),
            None => Ok(()),
        }
    }

    /// Gives a draft its target's name. A file without a draft has its name.
    fn name(&self, place: &Place, written: &mut Written) -> Result<(), Error> {
        let Some((draft, target)) = &mut written.draft else {
            return Ok(());
        };
        let level = self.options.durability;
        match draft.rename(target, level == Durability::Full) {
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && self.options.in_place_if_busy =>
            {
                write_in_place(place, draft.path(), target, level)
            }
            done => done,
        }
    }

    /// What came of a file: its error, or a name that may have to be flushed still.
    fn record(&self, place: &Place, written: Written, done: Result<(), Error>, is_covered: bool) {
        if let Err(error) = done {
            self.lock().failures.push((written.index, error));
            return;
        }
        // One that was there, under its name, when its file system was flushed has nothing left to wait for.
        let is_named =
            self.options.durability != Durability::Full || is_covered && written.draft.is_none();
        let target = match written.draft {
            Some((_, target)) => target,
            None if is_named || !sys::FLUSHES_DIRECTORIES => written.path,
            None => without_links(place, written.path),
        };
        let file = Named {
            index: written.index,
            path: target,
            file_system: written.file_system,
        };
        self.lock().folders.add(file, is_named);
    }

    fn fail_all(&self, file_system: usize, reason: &io::Error) {
        let mut state = self.lock();
        for file in state.folders.files_on(file_system) {
            let error = Error::at(Operation::Syncfs, &file.path, copy_of(reason));
            state.failures.push((file.index, error));
        }
    }

    /// Flushes everything that waits and all names that the level asks for. Gives the errors by the numbers of their files.
    pub(crate) fn finish(&self, place: &Place, parents: &Parents) -> Vec<(usize, Error)> {
        self.flush_open(place);
        let closed = std::mem::take(&mut self.lock().waiting);
        self.flush_covered(place, closed);
        if self.options.durability == Durability::Full && sys::FLUSHES_DIRECTORIES {
            self.flush_folders(place, parents);
        }
        let mut state = self.lock();
        let mut failures = std::mem::take(&mut state.failures);
        // They have a file open, which keeps a program from being run and a disk from being unmounted.
        state.file_systems.clear();
        drop(state);
        // The first of each file is the reason of those after it.
        failures.sort_by_key(|(index, _)| *index);
        failures.dedup_by_key(|(index, _)| *index);
        failures
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts a file. Whether it is covered by its file system.
    fn count(&mut self, file_system: usize, length: usize) -> bool {
        let Some(it) = self.file_systems.get_mut(file_system) else {
            return false;
        };
        it.files += 1;
        it.bytes += length as u64;
        // Seldom asked: what others do may change, and the more files there are the more of it is worth waiting for.
        if it.whole.is_some()
            && !it.is_chosen
            && it.files >= FEWEST_FOR_WHOLE
            && it.files.is_power_of_two()
        {
            let most = it.bytes + UNWRITTEN_PER_FILE * it.files as u64;
            it.is_chosen = sys::unwritten_bytes().is_some_and(|unwritten| unwritten <= most);
        }
        it.is_chosen
    }

    /// Takes the files that need not be open any more.
    fn take_covered(&mut self) -> Vec<(usize, PathBuf, OwnedFile)> {
        let Self {
            waiting,
            file_systems,
            open,
            ..
        } = self;
        if *open == 0 || !file_systems.iter().any(|it| it.is_chosen) {
            return Vec::new();
        }
        let is_chosen = |number: usize| file_systems.get(number).is_some_and(|it| it.is_chosen);
        let mut covered = Vec::new();
        for written in waiting {
            if is_chosen(written.file_system)
                && let Some(file) = written.file.take()
            {
                *open -= 1;
                covered.push((written.index, written.path.clone(), file));
            }
        }
        covered
    }
}

impl Written {
    fn close(&mut self) -> Result<(), Error> {
        match self.file.take() {
            Some(file) => {
                raw::close(file).map_err(|reason| Error::at(Operation::Close, &self.path, reason))
            }
            None => Ok(()),
        }
    }
}

/// Files of one path in one group, in their order.
fn by_path(files: Vec<Written>) -> Vec<Vec<Written>> {
    let mut groups: Vec<Vec<Written>> = Vec::with_capacity(files.len());
    let mut known = HashMap::<u64, usize>::with_capacity(files.len());
    for written in files {
        match known.entry(key_of(&written.path)) {
            Entry::Occupied(group) => groups[*group.get()].push(written),
            Entry::Vacant(group) => {
                group.insert(groups.len());
                groups.push(vec![written]);
            }
        }
    }
    groups
}

/// How many files of a batch may be open: not many of those that the process may have.
fn most_open() -> usize {
    (sys::descriptor_limit() / 8).clamp(1, MOST_OPEN)
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

/// Writes what a draft holds into the file that is there.
fn write_in_place(
    place: &Place,
    draft: &Path,
    target: &Path,
    level: Durability,
) -> Result<(), Error> {
    let from = place.open(draft, raw::O_RDONLY, 0)?;
    let to = place.open(target, raw::O_WRONLY | raw::O_TRUNC, 0)?;
    copy_all(&from, &to)
        .map_err(|reason| Error::between(Operation::Copy, draft, target, reason))?;
    level
        .flush(raw::borrow(&to))
        .map_err(|(operation, reason)| Error::at(operation, target, reason))?;
    raw::close(to).map_err(|reason| Error::at(Operation::Close, target, reason))
}
