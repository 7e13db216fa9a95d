//! Many files: the task of one, and the iterator over all.

use std::io;
use std::path::{Path, PathBuf};

use smallfry_workers::{
    Batch, BatchOptions, Control, Detached, Strategy, Stream, Task, TaskContext,
};

use super::algorithm::Algorithm;
use super::cache::Cache;
use super::contents::{self, Buffer, Size};
use super::digest::Digest;
use super::failure::Failure;
use crate::error::{Error, Operation};
use crate::path::{Base, OwnedPaths};
use crate::raw::{self, BorrowedFile};
use crate::sys::{self, Kind};

/// The digests of many files, one after the other: the iterator of
/// [`Hasher::files`](super::Hasher::files).
pub struct Digests<I: Iterator<Item: AsRef<Path>>>(Stream<'static, HashFile, OwnedPaths<I>>);

impl<I: Iterator<Item: AsRef<Path>>> Digests<I> {
    pub(super) fn new(task: HashFile, options: BatchOptions, paths: I) -> Self {
        let batch = Batch::new(task, options, Detached);
        Self(Stream::new(batch, OwnedPaths(paths), true))
    }
}

impl<I: Iterator<Item: AsRef<Path>>> Iterator for Digests<I> {
    type Item = Result<Digest, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (_, result) = self.0.next()?;
        Some(result.map(|(digest, _)| digest))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// The task of hashing one file of many. Its result is the digest, and the length of the file in
/// bytes.
#[derive(Debug)]
pub struct HashFile {
    pub(super) algorithm: Algorithm,
    pub(super) strategy: Strategy,
    pub(super) control: Option<Control>,
    pub(super) cache: Option<Cache>,
    pub(super) base: Base,
}

impl Task for HashFile {
    type Input = PathBuf;
    type Output = Result<(Digest, u64), Error>;
    type Scratch = Buffer;

    fn run(
        &self,
        buffer: &mut Buffer,
        path: PathBuf,
        context: &mut TaskContext<'_>,
    ) -> Self::Output {
        // Closing a file that was only read cannot fail, so it is dropped.
        let file = self.base.open(&path, raw::O_RDONLY, 0)?;
        let file = raw::borrow(&file);
        let hashed = self.hash(file, buffer);
        let (digest, length) = hashed.map_err(|failure| failure.at(&path))?;
        context.moved(usize::try_from(length).unwrap_or(usize::MAX));
        Ok((digest, length))
    }

    fn cancelled(&self, path: PathBuf) -> Self::Output {
        Err(Error::cancelled(Operation::Read, &path))
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }
}

impl HashFile {
    /// Hashes an open file of any kind from its position to its end, unless the cache has its
    /// digest.
    fn hash(&self, file: BorrowedFile<'_>, buffer: &mut Buffer) -> Result<(Digest, u64), Failure> {
        let Some(cache) = &self.cache else {
            return self.hash_contents(file, buffer);
        };
        let status = sys::entry_status(file);
        let status = status.map_err(|errno| Failure::Reason(Operation::Fstat, errno.into()))?;
        if status.kind != Kind::File {
            return self.hash_contents(file, buffer);
        }
        cache.find_or(self.algorithm, &status, || self.hash_contents(file, buffer))
    }

    fn hash_contents(
        &self,
        file: BorrowedFile<'_>,
        buffer: &mut Buffer,
    ) -> Result<(Digest, u64), Failure> {
        let status = raw::status(file);
        let status = status.map_err(|errno| Failure::Reason(Operation::Fstat, errno.into()))?;
        if status.is_directory {
            let reason = io::ErrorKind::IsADirectory.into();
            return Err(Failure::Reason(Operation::Read, reason));
        }
        let size = if status.is_regular {
            Size::Told(status.size)
        } else {
            Size::Unknown
        };
        let control = self.control.as_ref();
        contents::hash(self.algorithm, file, size, buffer, self.strategy, control)
    }
}
