//! A tree walked and read in one.

use std::path::PathBuf;

use super::engine::{Batch, Detached, Stream, Task, TaskContext};
use super::{Arena, Bytes, ReadFile, Reader};
use crate::error::Error;
use crate::tree::Walk;

/// The files of a tree with their contents: what [`Reader::read_tree`] gives.
pub struct Tree(Stream<'static, ReadFound, Walk>);

impl Tree {
    pub(super) fn new(reader: &Reader, files: Walk) -> Self {
        let task = ReadFound(reader.task());
        let batch = Batch::new(task, reader.options(), Detached);
        Self(Stream::new(batch, files, reader.is_in_order()))
    }
}

impl Iterator for Tree {
    type Item = Result<(PathBuf, Bytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.1)
    }
}

/// Reads what a walk has found; an error of the walk is passed on.
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
