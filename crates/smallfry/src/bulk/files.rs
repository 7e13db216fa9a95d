//! Operations on many files besides reading and writing: stat, remove, copy.

use std::fs::Metadata;
use std::marker::PhantomData;
use std::path::Path;

use smallfry_workers::{Task, TaskContext, run_all};

use super::settings::{Settings, settings_methods};
use crate::error::{Error, Operation};
use crate::path::{Base, key_of};
use crate::write::copy::copy_from;

/// Returns the metadata of many files, removes them or copies them.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = |name: &str| directory.path().join(name);
/// # for name in ["a", "b"] { smallfry::fs::write(path(name), name)?; }
/// use smallfry::bulk::Files;
///
/// for length in Files::new().copy([(path("a"), path("c")), (path("b"), path("d"))]) {
///     assert_eq!(length?, 1);
/// }
/// for metadata in Files::new().stat([path("c"), path("d")]) {
///     assert_eq!(metadata?.len(), 1);
/// }
/// for removed in Files::new().remove([path("c"), path("d")]) {
///     removed?;
/// }
/// assert!(!path("c").exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Files {
    settings: Settings,
}

impl Files {
    /// Makes one with strategy `Auto`.
    pub fn new() -> Self {
        Self::default()
    }

    settings_methods!();

    /// Returns size, kind and times of many files, in the order of `paths`. Symbolic links are
    /// followed.
    ///
    /// # Errors
    ///
    /// [`Operation::Stat`] with the path.
    pub fn stat<P: AsRef<Path> + Send>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<Result<Metadata, Error>> {
        let base = self.settings.base.clone();
        self.run(paths, Operation::Stat, |path| base.stat(path.as_ref()))
    }

    /// Removes many files. Results are in the order of `paths`. A symbolic link is removed itself.
    /// A directory is an error.
    ///
    /// # Errors
    ///
    /// [`Operation::Unlink`] with the path.
    pub fn remove<P: AsRef<Path> + Send>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<Result<(), Error>> {
        let base = self.settings.base.clone();
        self.run(paths, Operation::Unlink, |path| base.remove(path.as_ref()))
    }

    /// Copies contents and permissions of many files, as [`fs::copy`](crate::fs::copy) does.
    /// Returns their lengths in the order of `pairs`, each a source and a destination.
    ///
    /// The last of several copies to one destination wins, for paths that
    /// [`Writer::write`](super::Writer::write) takes for one. A source that is also a destination
    /// may be copied before or after.
    ///
    /// # Errors
    ///
    /// The errors of [`fs::copy`](crate::fs::copy): [`Operation::Copy`] with both paths.
    pub fn copy<P: AsRef<Path> + Send, Q: AsRef<Path> + Send>(
        &self,
        pairs: impl IntoIterator<Item = (P, Q)>,
    ) -> Vec<Result<u64, Error>> {
        let task = Copy {
            base: self.settings.base.clone(),
            pair: PhantomData,
        };
        run_all(task, self.settings.batch_options(), pairs)
    }

    fn run<P: AsRef<Path> + Send, O: Send>(
        &self,
        paths: impl IntoIterator<Item = P>,
        operation: Operation,
        run: impl Fn(&P) -> Result<O, Error> + Send + Sync,
    ) -> Vec<Result<O, Error>> {
        let task = Each {
            run,
            cancelled: |path: &P| Error::cancelled(operation, path.as_ref()),
            types: PhantomData,
        };
        run_all(task, self.settings.batch_options(), paths)
    }
}

/// A task that calls a function with each input.
struct Each<I, O, F, C> {
    run: F,
    cancelled: C,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O, F, C> Task for Each<I, O, F, C>
where
    I: Send,
    O: Send,
    F: Fn(&I) -> Result<O, Error> + Send + Sync,
    C: Fn(&I) -> Error + Send + Sync,
{
    type Input = I;
    type Output = Result<O, Error>;
    type Scratch = ();

    fn run(&self, (): &mut (), input: I, _: &mut TaskContext<'_>) -> Result<O, Error> {
        (self.run)(&input)
    }

    fn cancelled(&self, input: I) -> Result<O, Error> {
        Err((self.cancelled)(&input))
    }

    fn failed(&self, result: &Result<O, Error>) -> bool {
        result.is_err()
    }
}

/// Copies one file of many: a source and a destination.
struct Copy<P, Q> {
    base: Base,
    pair: PhantomData<fn(P, Q)>,
}

impl<P: AsRef<Path> + Send, Q: AsRef<Path> + Send> Task for Copy<P, Q> {
    type Input = (P, Q);
    type Output = Result<u64, Error>;
    type Scratch = ();

    fn run(
        &self,
        (): &mut (),
        (from, to): (P, Q),
        context: &mut TaskContext<'_>,
    ) -> Result<u64, Error> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let length = copy_from(&self.base, from, to)
            .map_err(|reason| Error::between(Operation::Copy, from, to, reason))?;
        context.moved(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(length)
    }

    fn cancelled(&self, (from, _): (P, Q)) -> Result<u64, Error> {
        Err(Error::cancelled(Operation::Copy, from.as_ref()))
    }

    fn failed(&self, result: &Result<u64, Error>) -> bool {
        result.is_err()
    }

    fn key(&self, (_, to): &(P, Q)) -> Option<u64> {
        Some(key_of(to.as_ref()))
    }
}
