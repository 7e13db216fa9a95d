//! The work for one entry.

use std::path::PathBuf;

use smallfry::bulk::{Arena, ReadFile, ReadFound, WriteFile, key_of};
use smallfry::hash::{Buffer, Digest, HashFile};
use smallfry::{Error, Outcome};
use smallfry_workers::{Task, TaskContext};

use crate::contents::Contents;
use crate::mailbox::Accepted;

/// Reads a file and decodes it as far as can be done off the main thread.
pub(super) struct Read {
    pub(super) file: ReadFile,
    pub(super) utf8: bool,
}

impl Task for Read {
    type Input = PathBuf;
    type Output = Result<Contents, Error>;
    type Scratch = Arena;

    fn run(&self, arena: &mut Arena, path: PathBuf, context: &mut TaskContext<'_>) -> Self::Output {
        let bytes = self.file.run(arena, path, context)?;
        Ok(Contents::new(bytes, self.utf8))
    }

    fn cancelled(&self, path: PathBuf) -> Self::Output {
        self.file.cancelled(path).map(Contents::Bytes)
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }
}

/// Reads a file that a walk has found, as [`Read`].
pub(super) struct ReadTree {
    pub(super) found: ReadFound,
    pub(super) utf8: bool,
}

/// A file of a tree.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) contents: Contents,
}

impl Task for ReadTree {
    type Input = Result<PathBuf, Error>;
    type Output = Result<Found, Error>;
    type Scratch = Arena;

    fn run(
        &self,
        arena: &mut Arena,
        found: Result<PathBuf, Error>,
        context: &mut TaskContext<'_>,
    ) -> Self::Output {
        let (path, bytes) = self.found.run(arena, found, context)?;
        let contents = Contents::new(bytes, self.utf8);
        Ok(Found { path, contents })
    }

    fn cancelled(&self, found: Result<PathBuf, Error>) -> Self::Output {
        let (path, bytes) = self.found.cancelled(found)?;
        let contents = Contents::Bytes(bytes);
        Ok(Found { path, contents })
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }
}

/// Hashes a file.
pub(super) struct Hash(pub(super) HashFile);

/// The digest of a file.
pub(super) struct Hashed {
    pub(super) digest: Digest,
    /// The length of the file in bytes.
    pub(super) length: u64,
}

impl Task for Hash {
    type Input = PathBuf;
    type Output = Result<Hashed, Error>;
    type Scratch = Buffer;

    fn run(
        &self,
        buffer: &mut Buffer,
        path: PathBuf,
        context: &mut TaskContext<'_>,
    ) -> Self::Output {
        let (digest, length) = self.0.run(buffer, path, context)?;
        Ok(Hashed { digest, length })
    }

    fn cancelled(&self, path: PathBuf) -> Self::Output {
        let (digest, length) = self.0.cancelled(path)?;
        Ok(Hashed { digest, length })
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }
}

/// An entry to write: a path, the bytes, and the promise that they are written before the process
/// ends.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) accepted: Option<Accepted>,
}

/// The result of a write.
pub(super) struct Wrote {
    pub(super) outcome: Outcome,
    /// The length of the contents in bytes.
    pub(super) length: usize,
}

/// Writes a file.
pub(super) struct Write {
    pub(super) file: WriteFile<PathBuf, Vec<u8>>,
}

impl Task for Write {
    type Input = Entry;
    type Output = Result<Wrote, Error>;
    type Scratch = ();

    fn run(&self, scratch: &mut (), entry: Entry, context: &mut TaskContext<'_>) -> Self::Output {
        let Entry {
            path,
            bytes,
            accepted,
        } = entry;
        let length = bytes.len();
        let result = self.file.run(scratch, (path, bytes), context);
        drop(accepted);
        result.map(|outcome| Wrote { outcome, length })
    }

    fn cancelled(&self, entry: Entry) -> Self::Output {
        let outcome = self.file.cancelled((entry.path, entry.bytes))?;
        Ok(Wrote { outcome, length: 0 })
    }

    fn failed(&self, result: &Self::Output) -> bool {
        result.is_err()
    }

    fn weight(&self, entry: &Entry) -> u64 {
        entry.bytes.len() as u64
    }

    fn key(&self, entry: &Entry) -> Option<u64> {
        Some(key_of(&entry.path))
    }
}
