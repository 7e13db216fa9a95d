//! Walking and reading a tree in one.

use std::path::PathBuf;

use smallfry_workers::{Batch, Detached, Stream, Task, TaskContext};

use super::arena::Arena;
use super::bytes::Bytes;
use super::reader::{ReadFile, Reader};
use crate::error::Error;
use crate::tree::Walk;

/// The files of a tree with their contents: the iterator of [`Reader::read_tree`].
pub struct Tree(Stream<'static, ReadFound, Walk>);

impl Tree {
    pub(super) fn new(reader: &Reader, files: Walk) -> Self {
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
