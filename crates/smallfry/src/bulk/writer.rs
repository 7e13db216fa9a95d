//! Writes many files.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use smallfry_workers::{BatchOptions, Task, TaskContext, run_all};

use super::settings::{Settings, settings_methods};
use crate::closer::{Closer, Group};
use crate::durable::GroupCommit;
use crate::error::{Error, Operation};
use crate::path::parents::Parents;
use crate::path::{Base, key_of, without_dot};
use crate::raw::{self, OwnedFile};
#[cfg(feature = "store")]
use crate::store;
use crate::write::one::{find_unchanged, open_and_write};
use crate::write::{Durability, Outcome, WriteOptions};

/// Writes many files whole.
///
/// Where closing is slow, the [`Closer`] defers it. [`write`](Self::write) returns when all files
/// are closed, and errors of closing are in its report.
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
    /// Makes a writer with strategy `Auto`. It creates missing files with mode 0666 less the umask,
    /// and truncates existing ones.
    pub fn new() -> Self {
        Self {
            options: WriteOptions::new(),
            settings: Settings::default(),
        }
    }

    settings_methods!();

    /// Sets the maximum number of bytes that were taken from the entries and are not written. One
    /// more entry is taken as long as there are fewer, so the last one may exceed it.
    pub fn max_in_flight(&mut self, bytes: u64) -> &mut Self {
        self.settings.max_in_flight = bytes;
        self
    }

    /// Creates missing directories above each file, each once, with mode 0777 less the umask.
    pub fn create_parents(&mut self, create_parents: bool) -> &mut Self {
        self.options.create_parents(create_parents);
        self
    }

    /// Leaves files alone that hold the right bytes, as [`WriteOptions::only_if_changed`] does.
    /// Each of several entries for one path is compared with the contents that the entry before it
    /// left.
    pub fn only_if_changed(&mut self, only_if_changed: bool) -> &mut Self {
        self.options.only_if_changed(only_if_changed);
        self
    }

    /// Fails for existing files, as [`WriteOptions::create_new`] does.
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.options.create_new(create_new);
        self
    }

    /// Sets the permissions of new files, as [`WriteOptions::mode`] does.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.options.mode(mode);
        self
    }

    /// Sets which part of each write must survive a crash of the system, as
    /// [`WriteOptions::durability`] does.
    ///
    /// The promise for each file is the same, with as few waits as the system allows, whatever the
    /// number of files. A failed barrier is the error of many files, and comes too late for
    /// [`fail_fast`](Self::fail_fast).
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.options.durability(durability);
        self
    }

    /// Replaces old files by new ones, each in one step, as [`WriteOptions::replace`] does.
    ///
    /// With a level of durability the disk needs room for all old and new files at once, and all of
    /// several entries for one path are written. On Windows it cannot be combined with
    /// [`within`](Self::within).
    pub fn replace(&mut self, replace: bool) -> &mut Self {
        self.options.replace(replace);
        self
    }

    /// Writes over existing files instead of truncating them first, as [`WriteOptions::overwrite`]
    /// does.
    pub fn overwrite(&mut self, overwrite: bool) -> &mut Self {
        self.options.overwrite(overwrite);
        self
    }

    /// Writes into a file that is busy and cannot be replaced, as
    /// [`WriteOptions::in_place_if_busy`] does.
    pub fn in_place_if_busy(&mut self, in_place_if_busy: bool) -> &mut Self {
        self.options.in_place_if_busy(in_place_if_busy);
        self
    }

    /// Writes all entries, each a path and the contents of the file.
    ///
    /// `entries` is asked for more while files are written, some way ahead but never for all at
    /// once. Of several entries for one path the last one wins. Paths are the same if their
    /// spellings differ only by `.` and repeated separators. Two other names of one file (an
    /// absolute and a relative path, one with `..`, one through a link) are not recognised, and the
    /// file may end with a mixture of both contents.
    ///
    /// # Errors
    ///
    /// The report has the errors of [`WriteOptions::write`] for each entry. After an error other
    /// than [`Operation::Open`] or [`Operation::Mkdir`] the file exists with some of the bytes or
    /// none, unless it was to be [replaced](Self::replace).
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
        let mut results = run_all(task, self.batch_options(), entries);
        if barrier.is_none() {
            Closer::global().wait();
        }
        let lost = barrier.map(|barrier| barrier.finish()).unwrap_or_default();
        for (index, error) in errors.take().into_iter().chain(lost) {
            results[index] = Err(error);
        }
        Report(results)
    }

    /// Returns the task for one entry, for front ends that run a batch themselves. Errors of
    /// deferred closes go to the [`Closer`].
    pub fn task<P, B>(&self) -> WriteFile<P, B> {
        WriteFile {
            // An error must be known at once, to stop the batch.
            closing: if self.settings.fail_fast {
                Closing::Here
            } else {
                Closing::ToSink
            },
            options: self.options.clone(),
            base: self.settings.base.clone(),
            parents: Parents::new(),
            durable: self.options.is_durable().then(|| {
                Arc::new(Durable(GroupCommit::new(
                    &self.options,
                    &self.settings.base,
                )))
            }),
            cases: Mutex::default(),
            entry: PhantomData,
        }
    }

    /// Returns how the batch is run, for front ends that run it themselves.
    pub fn batch_options(&self) -> BatchOptions {
        self.settings.batch_options()
    }
}

/// The results of a batch of writes, in the order of entries.
#[derive(Debug)]
pub struct Report(Vec<Result<Outcome, Error>>);

impl Report {
    /// Returns the results of the entries. A cancelled batch may have begun fewer entries than
    /// there were.
    pub fn results(&self) -> &[Result<Outcome, Error>] {
        &self.0
    }

    /// Takes the results.
    pub fn into_results(self) -> Vec<Result<Outcome, Error>> {
        self.0
    }

    /// Returns the errors with the numbers of their entries, from 0.
    pub fn errors(&self) -> impl Iterator<Item = (usize, &Error)> {
        let results = self.0.iter().enumerate();
        results.filter_map(|(index, result)| Some((index, result.as_ref().err()?)))
    }

    /// Returns the number of files that were written.
    pub fn written(&self) -> usize {
        self.count(Outcome::Written)
    }

    /// Returns the number of files that held the right bytes. Only with
    /// [`Writer::only_if_changed`].
    pub fn unchanged(&self) -> usize {
        self.count(Outcome::Unchanged)
    }

    fn count(&self, outcome: Outcome) -> usize {
        let is_it =
            |result: &&Result<Outcome, Error>| result.as_ref().is_ok_and(|it| *it == outcome);
        self.0.iter().filter(is_it).count()
    }

    /// Returns the first error, if there is one.
    pub fn into_result(self) -> Result<(), Error> {
        self.0.into_iter().try_for_each(|result| result.map(drop))
    }
}

/// The task of writing one file of many.
#[derive(Debug)]
pub struct WriteFile<P, B> {
    options: WriteOptions,
    base: Base,
    parents: Parents,
    /// Set if files are to be flushed or replaced.
    durable: Option<Arc<Durable>>,
    closing: Closing,
    /// Paths by keys that ignore case, where the system ignores it.
    cases: Mutex<HashMap<Vec<u8>, PathBuf>>,
    entry: PhantomData<fn(P, B)>,
}

/// The files of a batch that wait for one barrier.
#[derive(Debug)]
pub struct Durable(GroupCommit);

impl Durable {
    /// Makes all written files durable. Call it once, when all are written. Returns the late errors
    /// with the numbers of their files.
    pub fn finish(&self) -> Vec<(usize, Error)> {
        self.0.finish()
    }
}

/// The way in which the files of a batch are closed.
#[derive(Debug)]
enum Closing {
    /// Each file before its result.
    Here,
    /// The [`Closer`] closes them and keeps errors.
    ToSink,
    /// The [`Closer`] closes them and gives errors to this batch.
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
        let (path, bytes) = (path.as_ref(), bytes.as_ref());
        let result = self.write(path, bytes, context);
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

    #[cfg(feature = "store")]
    fn is_request(&self, (path, _): &(P, B)) -> bool {
        self.base.is_url(path.as_ref())
    }
}

impl<P, B> WriteFile<P, B> {
    /// Returns the files to be [finished](Durable::finish) when all are written, if any.
    pub fn barrier(&self) -> Option<Arc<Durable>> {
        self.durable.clone()
    }

    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        context: &mut TaskContext<'_>,
    ) -> Result<Outcome, Error> {
        #[cfg(feature = "store")]
        if self.base.is_url(path) {
            return store::write(path, bytes, &self.options, context);
        }
        let index = context.index();
        if let Some(key) = self.base.case_key(path) {
            self.check_case(key, path)?;
        }
        if let Some(durable) = &self.durable {
            return durable.0.write(path, bytes, index);
        }
        self.options.check(path)?;
        let base = &self.base;
        let compare = |flags| base.open(path, flags, 0);
        if self.options.only_if_changed && find_unchanged(bytes, compare).is_some() {
            return Ok(Outcome::Unchanged);
        }
        let mode = self.options.mode;
        let file = open_and_write(&self.options, path, bytes, |flags| {
            if self.options.create_parents {
                base.open_with_parents(&self.parents, path, flags, mode)
            } else {
                base.open(path, flags, mode)
            }
        })?;
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

    /// Refuses a path that differs from another one of the batch in case only.
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
}
