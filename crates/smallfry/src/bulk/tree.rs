//! Walks a tree and reads its files in one.

use std::io;
use std::path::{Path, PathBuf};

use smallfry_workers::{Batch, Detached, Stream, Task, TaskContext};

use super::arena::Arena;
use super::bytes::Bytes;
use super::reader::{ReadFile, Reader};
use crate::error::{Error, Operation};
use crate::tree::{TreeOptions, Walk};

impl Reader {
    /// Walks a tree and reads its files meanwhile. Returns each path with its contents, in the
    /// order of [`Walk`]. Paths begin with the root. Needs the feature `tree`.
    ///
    /// It cannot be combined with [`within`](Self::within), since a walk resolves paths as the
    /// process does.
    ///
    /// # Errors
    ///
    /// Returns those of [`TreeOptions::walk`] at once, and after [`within`](Self::within)
    /// [`Operation::Readdir`] with [`io::ErrorKind::InvalidInput`]. The iterator gives errors of
    /// the walk and of the files in their places.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let root = directory.path();
    /// # for name in ["a.md", "b.txt"] { smallfry::fs::write(root.join(name), name)?; }
    /// use smallfry::bulk::Reader;
    /// use smallfry::tree::TreeOptions;
    ///
    /// let pages = TreeOptions::new().matching("**/*.md").clone();
    /// for page in Reader::new().read_tree(root, &pages)? {
    ///     let (path, contents) = page?;
    ///     assert_eq!(path, root.join("a.md"));
    ///     assert_eq!(contents[..], *b"a.md");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_tree(&self, root: impl AsRef<Path>, options: &TreeOptions) -> Result<Tree, Error> {
        let root = root.as_ref();
        if self.is_beneath() {
            let reason = "a tree cannot be read beneath a directory";
            let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
            return Err(Error::at(Operation::Readdir, root, reason));
        }
        Ok(Tree::new(self, options.walk(root)?))
    }
}

/// The files of a tree with their contents: the iterator of [`Reader::read_tree`].
pub struct Tree(Stream<'static, ReadFound, Walk>);

impl Tree {
    fn new(reader: &Reader, files: Walk) -> Self {
        let task = ReadFound(reader.task());
        let batch = Batch::new(task, reader.batch_options(), Detached);
        Self(Stream::new(batch, files, reader.is_in_order()))
    }
}

impl Iterator for Tree {
    type Item = Result<(PathBuf, Bytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.1)
    }
}

/// The task of reading a file that a walk has found. An error of the walk is passed on.
#[derive(Debug)]
pub struct ReadFound(pub ReadFile);

impl Task for ReadFound {
    type Input = Result<PathBuf, Error>;
    type Output = Result<(PathBuf, Bytes), Error>;
    type Scratch = Arena;

    fn run(
        &self,
        arena: &mut Arena,
        found: Result<PathBuf, Error>,
        context: &mut TaskContext<'_>,
    ) -> Self::Output {
        let path = found?;
        let contents = self.0.read(arena, &path, context)?;
        Ok((path, contents))
    }

    fn cancelled(&self, found: Result<PathBuf, Error>) -> Self::Output {
        Err(self.0.not_begun(&found?))
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }
}
