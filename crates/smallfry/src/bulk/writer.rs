//! Writing many files.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::engine::{BatchOptions, Task, TaskContext, run_all};
use super::place::{Place, key_of, without_dot};
use super::settings::{Settings, settings_methods};
use crate::close::{Closer, Group};
use crate::durability::{Barrier, Durability};
use crate::error::{Error, Operation};
use crate::fs::{COMPARE_FLAGS, Outcome, WriteOptions, is_file_of, overwrite};
use crate::parents::Parents;
use crate::raw::{self, OwnedFile};

/// Writes many files whole.
///
/// Where closing is slow it is left to the [`Closer`]; [`write`](Self::write) returns when all is closed, and what closing
/// reported is in its report.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let out = directory.path().join("dist");
/// use smallfry::Outcome;
/// use smallfry::bulk::Writer;
///
/// let pages = (1..=3).map(|page| (out.join(format!("{page}/index.html")), format!("<h1>{page}</h1>")));
/// let report = Writer::new().create_parents(true).write(pages.clone());
/// assert_eq!(report.written(), 3);
///
/// let report = Writer::new().only_if_changed(true).write(pages);
/// assert_eq!(report.unchanged(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    options: WriteOptions,
    settings: Settings,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Strategy `Auto`; files made if missing, replaced if there, mode 0666 less the umask.
    pub fn new() -> Self {
        Self {
            options: WriteOptions::new(),
            settings: Settings::default(),
        }
    }

    settings_methods!();

    /// Bytes of contents, at most, that have been taken from the entries and not been written. One more entry is taken as
    /// long as there are fewer, so the last one, whatever its size, may bring them over it.
    pub fn max_in_flight(&mut self, bytes: u64) -> &mut Self {
        self.settings.max_in_flight = bytes;
        self
    }

    /// Make the directories above each file if they are missing, each once, with mode 0777 less the umask.
    pub fn create_parents(&mut self, create_parents: bool) -> &mut Self {
        self.options.create_parents(create_parents);
        self
    }

    /// Leave files alone that hold the right bytes already, as [`WriteOptions::only_if_changed`]. Of several entries for one
    /// path each is compared with what the one before it has left, so a file may be written twice to end as it was.
    pub fn only_if_changed(&mut self, only_if_changed: bool) -> &mut Self {
        self.options.only_if_changed(only_if_changed);
        self
    }

    /// Fail for files that are there already, as [`WriteOptions::create_new`].
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.options.create_new(create_new);
        self
    }

    /// Permissions of new files, as [`WriteOptions::mode`].
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.options.mode(mode);
        self
    }

    /// What of all files must survive a crash of the system, as [`WriteOptions::durability`]: the same promise for each file, for
    /// as few waits as the system allows, whatever their number. An error of a barrier may be one of many files, and comes too
    /// late for [`fail_fast`](Self::fail_fast).
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.options.durability(durability);
        self
    }

    /// Put new files in the place of old ones, each in one step, as [`WriteOptions::replace`]. With a level it needs room for all
    /// old and new ones at once; and of several entries for one path all are written. Not on Windows together with
    /// [`within`](Self::within).
    pub fn replace(&mut self, replace: bool) -> &mut Self {
        self.options.replace(replace);
        self
    }

    /// Write over files that are there instead of emptying them first, as [`WriteOptions::overwrite`].
    pub fn overwrite(&mut self, overwrite: bool) -> &mut Self {
        self.options.overwrite(overwrite);
        self
    }

    /// Write into a file that cannot be replaced because it is busy, as [`WriteOptions::in_place_if_busy`].
    pub fn in_place_if_busy(&mut self, in_place_if_busy: bool) -> &mut Self {
        self.options.in_place_if_busy(in_place_if_busy);
        self
    }

    /// Writes all entries, each a path and the bytes to be its contents.
    ///
    /// `entries` is asked for more as files are written, never for all at once, but ahead of the writing. Of several entries
    /// for one path the last one wins: they are written one after the other. Paths are the same if they are spelled the
    /// same, apart from `.` and repeated separators. Other names of one file are not seen to be one, and what is written
    /// to it under two of them may come mixed: an absolute and a relative path, one with `..`, one through a link.
    ///
    /// # Errors
    ///
    /// Each entry's are those of [`WriteOptions::write`], in the report. After an error that is not
    /// [`Operation::Open`] or [`Operation::Mkdir`] the file is there, with some of the bytes or none, unless it was to be
    /// [replaced](Self::replace).
    pub fn write<P, B>(&self, entries: impl IntoIterator<Item = (P, B)>) -> Report
    where
        P: AsRef<Path> + Send,
        B: AsRef<[u8]> + Send,
    {
        let errors = Arc::new(Group::default());
        let mut task = self.task();
        if matches!(task.closing, Closing::ToSink) {
            task.closing = if Closer::can_wait() {
                Closing::ToGroup(Arc::clone(&errors))
            } else {
                Closing::Here
            };
        }
        let barrier = task.barrier();
        let mut results = run_all(task, self.options(), entries);
        if barrier.is_none() {
            Closer::global().wait();
        }
        let lost = barrier.map(|barrier| barrier.finish()).unwrap_or_default();
        for (index, error) in errors.take().into_iter().chain(lost) {
            results[index] = Err(error);
        }
        Report(results)
    }

    /// What is done for each entry, for front ends with an engine of their own around it. What closing reports of files
    /// whose close is deferred goes to the [`Closer`].
    pub fn task<P, B>(&self) -> WriteFile<P, B> {
        WriteFile {
            // To begin nothing after an error means to know of it.
            closing: if self.settings.fail_fast {
                Closing::Here
            } else {
                Closing::ToSink
            },
            options: self.options.clone(),
            place: self.settings.place.clone(),
            parents: Parents::new(),
            durable: self
                .options
                .is_more_than_written()
                .then(|| Arc::new(Durable(Barrier::new(&self.options, &self.settings.place)))),
            cases: Mutex::default(),
            entry: PhantomData,
        }
    }

    /// How a batch is done, likewise.
    pub fn options(&self) -> BatchOptions {
        self.settings.options()
    }
}

/// What came of each entry of a batch of writes, in the order of entries.
#[derive(Debug)]
pub struct Report(Vec<Result<Outcome, Error>>);

impl Report {
    /// The results of the entries, in their order. A batch that was cancelled may have begun fewer than there were.
    pub fn results(&self) -> &[Result<Outcome, Error>] {
        &self.0
    }

    /// Takes the results out.
    pub fn into_results(self) -> Vec<Result<Outcome, Error>> {
        self.0
    }

    /// The entries that failed, by their numbers from 0.
    pub fn errors(&self) -> impl Iterator<Item = (usize, &Error)> {
        let results = self.0.iter().enumerate();
        results.filter_map(|(index, result)| Some((index, result.as_ref().err()?)))
    }

    /// How many files were written.
    pub fn written(&self) -> usize {
        self.count(Outcome::Written)
    }

    /// How many files held the right bytes already. Only with [`Writer::only_if_changed`].
    pub fn unchanged(&self) -> usize {
        self.count(Outcome::Unchanged)
    }

    fn count(&self, outcome: Outcome) -> usize {
        let is_it =
            |result: &&Result<Outcome, Error>| result.as_ref().is_ok_and(|it| *it == outcome);
        self.0.iter().filter(is_it).count()
    }

    /// The first error, for who has no use for the others.
    pub fn into_result(self) -> Result<(), Error> {
        self.0.into_iter().try_for_each(|result| result.map(drop))
    }
}

/// Writes one file of many: a path and its contents.
#[derive(Debug)]
pub struct WriteFile<P, B> {
    options: WriteOptions,
    place: Place,
    parents: Parents,
    /// For files of which more is asked than to be written.
    durable: Option<Arc<Durable>>,
    closing: Closing,
    /// Paths by what they share with others that differ in case only, where the system takes those for one file.
    cases: Mutex<HashMap<Vec<u8>, PathBuf>>,
    entry: PhantomData<fn(P, B)>,
}

/// Files that wait for one barrier.
#[derive(Debug)]
pub struct Durable(Barrier);

impl Durable {
    /// Makes everything last that was written, to be called once when all is. Gives the errors of files whose results were
    /// none before, by their numbers.
    pub fn finish(&self) -> Vec<(usize, Error)> {
        self.0.finish()
    }
}

/// How a file is closed.
#[derive(Debug)]
enum Closing {
    /// Before its result is given.
    Here,
    /// By the [`Closer`], which keeps errors.
    ToSink,
    /// By the [`Closer`], with errors for this batch.
    ToGroup(Arc<Group>),
}

impl<P: AsRef<Path> + Send, B: AsRef<[u8]> + Send> Task for WriteFile<P, B> {
    type Input = (P, B);
    type Output = Result<Outcome, Error>;
    type Scratch = ();

    fn run(
        &self,
        (): &mut (),
        (path, bytes): (P, B),
        context: &mut TaskContext<'_>,
    ) -> Result<Outcome, Error> {
        let bytes = bytes.as_ref();
        let result = self.write(path.as_ref(), bytes, context.index());
        if matches!(result, Ok(Outcome::Written)) {
            context.moved(bytes.len());
        }
        result
    }

    fn cancelled(&self, (path, _): (P, B)) -> Result<Outcome, Error> {
        Err(Error::cancelled(Operation::Write, path.as_ref()))
    }

    fn failed(&self, result: &Result<Outcome, Error>) -> bool {
        result.is_err()
    }

    fn weight(&self, (_, bytes): &(P, B)) -> u64 {
        bytes.as_ref().len() as u64
    }

    fn key(&self, (path, _): &(P, B)) -> Option<u64> {
        Some(key_of(path.as_ref()))
    }
}

impl<P, B> WriteFile<P, B> {
    /// What is to be [finished](Durable::finish) when all is written, if anything.
    pub fn barrier(&self) -> Option<Arc<Durable>> {
        self.durable.clone()
    }

    fn write(&self, path: &Path, bytes: &[u8], index: usize) -> Result<Outcome, Error> {
        if let Some(key) = self.place.case_key(path) {
            self.check_case(key, path)?;
        }
        if let Some(durable) = &self.durable {
            return durable.0.write(path, bytes, index);
        }
        if self.options.only_if_changed {
            self.options.check_comparable(path)?;
            let is_file_of = |file: OwnedFile| is_file_of(raw::borrow(&file), bytes);
            let file = self.place.open(path, COMPARE_FLAGS, 0);
            if file.is_ok_and(is_file_of) {
                return Ok(Outcome::Unchanged);
            }
        }
        let file = if let Some(flags) = self.options.overwriting_flags(bytes.len()) {
            let file = self.open(path, flags)?;
            overwrite(file, bytes)
                .map_err(|(operation, reason)| Error::at(operation, path, reason))?
        } else {
            let file = self.open(path, self.options.flags())?;
            raw::write_all(raw::borrow(&file), bytes)
                .map_err(|reason| Error::at(Operation::Write, path, reason))?;
            file
        };
        self.close(file, path, index)?;
        Ok(Outcome::Written)
    }

    fn close(&self, file: OwnedFile, path: &Path, index: usize) -> Result<(), Error> {
        let closer = Closer::global();
        match &self.closing {
            Closing::Here => {
                raw::close(file).map_err(|reason| Error::at(Operation::Close, path, reason))
            }
            Closing::ToSink => closer.close(file, path).map(drop),
            Closing::ToGroup(group) => closer.close_of_group(file, path, group, index).map(drop),
        }
    }

    /// Refuses a path that differs from another one of the batch in case only: which of them would win?
    fn check_case(&self, key: Vec<u8>, path: &Path) -> Result<(), Error> {
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        let first = cases.entry(key).or_insert_with(|| path.to_owned());
        if without_dot(first) == without_dot(path) {
            return Ok(());
        }
        let reason = format!("differs from {} in case only", first.display());
        let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
        Err(Error::at(Operation::Open, path, reason))
    }

    fn open(&self, path: &Path, flags: i32) -> Result<OwnedFile, Error> {
        let mode = self.options.mode;
        if self.options.create_parents {
            let parents = &self.parents;
            self.place.open_with_parents(parents, path, flags, mode)
        } else {
            self.place.open(path, flags, mode)
        }
    }
}
