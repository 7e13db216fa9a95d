//! The builder.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{BatchOptions, Control, Strategy};

use super::algorithm::Algorithm;
use super::cache::Cache;
use super::digest::Digest;
use super::files::{Digests, HashFile};
use super::tree::{self, Filter};
use crate::path::{Base, max_workers};
use crate::tree::{Report, TreeError};

/// Hashes files and trees.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = |name: &str| directory.path().join(name);
/// # smallfry::fs::write(path("a"), "abc")?;
/// use smallfry::hash::{Algorithm, Hasher};
///
/// let digests: Vec<_> = Hasher::new().files([path("a"), path("none")]).collect();
/// assert_eq!(
///     digests[0].as_ref().map(ToString::to_string).ok().as_deref(),
///     Some("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85")
/// );
/// assert_eq!(digests[1].as_ref().unwrap_err().path(), Some(path("none").as_path()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Hasher {
    algorithm: Algorithm,
    strategy: Strategy,
    control: Option<Control>,
    filter: Option<Filter>,
    cache: Option<Cache>,
}

/// The digest of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeDigest {
    /// The digest.
    pub digest: Digest,
    /// The numbers of files, directories and bytes that it was made of.
    pub report: Report,
}

impl Hasher {
    /// Makes a hasher with [`Algorithm::Blake3`] and strategy `Auto`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the algorithm.
    pub fn algorithm(&mut self, algorithm: Algorithm) -> &mut Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets how many operations run at once.
    pub fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.strategy = strategy;
        self
    }

    /// Lets `control` cancel the work and show its progress. A large file ends in its middle.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.control = Some(control.clone());
        self
    }

    /// Takes the digests of files that have not changed from `cache`, and puts others there. The
    /// bytes of files that are not read are not counted.
    pub fn cache(&mut self, cache: &Cache) -> &mut Self {
        self.cache = Some(cache.clone());
        self
    }

    /// Leaves out entries of trees for whose paths below the root `wanted` returns false, and what
    /// is in such directories. The digest is that of a tree without them. It is called by several
    /// threads.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.filter = Some(Arc::new(wanted));
        self
    }

    /// Hashes the files that `paths` gives. Links are followed. Digests are in the order of paths.
    ///
    /// The iterator works only while it is asked, except that threads hash ahead. `paths` is asked
    /// for more ahead of the results, so it must not wait for one of them. Dropping the iterator
    /// waits for operations in flight and begins no others.
    ///
    /// A named pipe is read to its end, and a device without an end until the control cancels.
    ///
    /// # Errors
    ///
    /// [`Operation::Open`], [`Operation::Fstat`] or [`Operation::Read`] with the path. A directory
    /// fails with `Read` on Unix and with `Open` on Windows. [`Algorithm::GitBlob`] fails with
    /// `Read` for a file that is no regular one, and for one whose length changes meanwhile.
    ///
    /// Files that were handed to threads before the control was cancelled get an error for which
    /// [`Error::is_cancelled`] holds. Later ones have no result.
    ///
    /// [`Operation::Open`]: crate::Operation::Open
    /// [`Operation::Fstat`]: crate::Operation::Fstat
    /// [`Operation::Read`]: crate::Operation::Read
    /// [`Error::is_cancelled`]: crate::Error::is_cancelled
    pub fn files<I>(&self, paths: I) -> Digests<I::IntoIter>
    where
        I: IntoIterator<Item: AsRef<Path>>,
    {
        Digests::new(self.task(), self.batch_options(), paths.into_iter())
    }

    /// Returns the task for one file, for front ends that run a batch themselves.
    pub fn task(&self) -> HashFile {
        HashFile {
            algorithm: self.algorithm,
            strategy: self.strategy,
            control: self.control.clone(),
            cache: self.cache.clone(),
            base: Base::default(),
        }
    }

    /// Returns how the batch is run, for front ends that run it themselves.
    pub fn batch_options(&self) -> BatchOptions {
        BatchOptions {
            strategy: self.strategy,
            max_workers: max_workers(),
            control: self.control.clone().unwrap_or_default(),
            ..BatchOptions::default()
        }
    }

    /// Hashes the file, link or directory at `path`, and everything in it.
    ///
    /// The digest is made of names, kinds, contents, targets of links, and whether the owner may
    /// execute a file. `docs/tree-digest.md` defines it. Times, owners, other permissions, hard
    /// links and the name of the tree itself do not count.
    ///
    /// No link is followed, neither at the end of `path` nor below it. A slash at the end of `path`
    /// says that a directory is meant, and then a link to one is followed. Another program may
    /// exchange a directory for a link meanwhile: what it leads to is not read.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an error for each entry that could not be read:
    /// [`Operation::Readdir`] for a directory, [`Operation::Readlink`] for a link, otherwise
    /// [`Operation::Stat`], [`Operation::Open`], [`Operation::Fstat`] or [`Operation::Read`]. Also
    /// for pipes, sockets and devices, and for an entry that was removed after its directory was
    /// listed. A cancelled control gives one error for which [`Error::is_cancelled`] holds.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let root = directory.path();
    /// # for name in ["a", "b"] { smallfry::fs::write(root.join(name), name)?; }
    /// use smallfry::hash::Hasher;
    ///
    /// let before = Hasher::new().tree(root)?;
    /// assert_eq!((before.report.files, before.report.bytes), (2, 2));
    /// smallfry::fs::rename(root.join("b"), root.join("c"))?;
    /// assert_ne!(Hasher::new().tree(root)?.digest, before.digest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Operation::Readdir`]: crate::Operation::Readdir
    /// [`Operation::Stat`]: crate::Operation::Stat
    /// [`Operation::Readlink`]: crate::Operation::Readlink
    /// [`Operation::Open`]: crate::Operation::Open
    /// [`Operation::Fstat`]: crate::Operation::Fstat
    /// [`Operation::Read`]: crate::Operation::Read
    /// [`Error::is_cancelled`]: crate::Error::is_cancelled
    pub fn tree(&self, path: impl AsRef<Path>) -> Result<TreeDigest, TreeError> {
        let options = tree::Options {
            algorithm: self.algorithm,
            strategy: self.strategy,
            control: self.control.as_ref(),
            filter: self.filter.as_ref(),
            cache: self.cache.as_ref(),
        };
        let (digest, report) = tree::hash(options, path.as_ref())?;
        Ok(TreeDigest { digest, report })
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher")
            .field("algorithm", &self.algorithm)
            .field("strategy", &self.strategy)
            .field("control", &self.control)
            .field("cache", &self.cache.as_ref().map(Cache::path))
            .finish_non_exhaustive()
    }
}
