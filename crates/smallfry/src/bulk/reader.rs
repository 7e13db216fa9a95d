//! Reads many files.

use std::io;
use std::path::{Path, PathBuf};

use smallfry_workers::{Batch, BatchOptions, Detached, Stream, Task, TaskContext};

use super::arena::Arena;
use super::bytes::Bytes;
use super::settings::{Settings, settings_methods};
use crate::error::{Error, Operation, too_large};
use crate::path::{Base, OwnedPaths};
use crate::raw::{self, BorrowedFile, Errno};
#[cfg(feature = "store")]
use crate::store;

/// The default maximum size of a file in bytes. It is the limit of `readFile` in Node.
const MAX_FILE_SIZE: u64 = 2 << 30;
/// The first room for a file that does not tell its size: an empty one, a pipe, one under `/proc`.
/// In bytes.
const UNKNOWN_SIZE: usize = 64 << 10;

/// Reads many files whole.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let paths: Vec<_> = ["a", "b", "c"].map(|name| directory.path().join(name)).into();
/// # for path in &paths[..2] { smallfry::fs::write(path, "text")?; }
/// use smallfry::bulk::Reader;
///
/// let (mut bytes, mut missing) = (0, 0);
/// for (index, result) in Reader::new().read(&paths) {
///     match result {
///         Ok(contents) => bytes += contents.len(),
///         Err(error) => {
///             assert_eq!(error.path(), Some(paths[index].as_path()));
///             missing += 1;
///         }
///     }
/// }
/// assert_eq!((bytes, missing), (8, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    settings: Settings,
    largest_file: u64,
    in_order: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// Makes a reader with strategy `Auto`, 32 MiB in flight, files of up to 2 GiB, and results in
    /// the order of paths.
    pub fn new() -> Self {
        Self {
            settings: Settings::default(),
            largest_file: MAX_FILE_SIZE,
            in_order: true,
        }
    }

    settings_methods!();

    /// Sets the maximum number of bytes that are being read, or were read and not taken from the
    /// iterator.
    ///
    /// The file whose result is needed next does not wait for room, nor does a file that the
    /// calling thread reads itself. They may exceed the maximum.
    pub fn max_in_flight(&mut self, bytes: u64) -> &mut Self {
        self.settings.max_in_flight = bytes;
        self
    }

    /// Sets the maximum size of a file. Larger files fail with [`io::ErrorKind::FileTooLarge`]
    /// before memory is allocated.
    pub fn max_file_size(&mut self, bytes: u64) -> &mut Self {
        self.largest_file = bytes;
        self
    }

    /// Gives results as files are done instead of in the order of paths, so that none waits for a
    /// slow one before it. The calling thread reads files too, and while it reads a slow one, other
    /// results wait.
    pub fn completion_order(&mut self, completion_order: bool) -> &mut Self {
        self.in_order = !completion_order;
        self
    }

    /// Reads the files that `paths` gives.
    ///
    /// The iterator gives the number of each path, from 0, with the contents or the error. It works
    /// only while it is asked, except that threads read ahead within the maximum in flight. `paths`
    /// is asked for more ahead of the results, so it must not wait for one of them. Dropping the
    /// iterator waits for operations in flight and begins no others.
    ///
    /// # Errors
    ///
    /// The errors of [`fs::read`](crate::fs::read) for each path; [`Operation::Read`] with
    /// [`io::ErrorKind::FileTooLarge`].
    pub fn read<I>(&self, paths: I) -> Contents<I::IntoIter>
    where
        I: IntoIterator<Item: AsRef<Path>>,
    {
        let batch = Batch::new(self.task(), self.batch_options(), Detached);
        Contents(Stream::new(
            batch,
            OwnedPaths(paths.into_iter()),
            self.in_order,
        ))
    }

    /// Returns the task for one path, for front ends that run a batch themselves.
    pub fn task(&self) -> ReadFile {
        ReadFile {
            largest: self.largest_file,
            base: self.settings.base.clone(),
        }
    }

    #[cfg(feature = "tree")]
    pub(super) fn is_in_order(&self) -> bool {
        self.in_order
    }

    #[cfg(feature = "tree")]
    pub(super) fn is_beneath(&self) -> bool {
        self.settings.base.is_beneath()
    }

    /// Returns how the batch is run, for front ends that run it themselves.
    pub fn batch_options(&self) -> BatchOptions {
        self.settings.batch_options()
    }
}

/// The contents of many files, one after the other: the iterator of [`Reader::read`].
pub struct Contents<I: Iterator<Item: AsRef<Path>>>(Stream<'static, ReadFile, OwnedPaths<I>>);

impl<I: Iterator<Item: AsRef<Path>>> Iterator for Contents<I> {
    type Item = (usize, Result<Bytes, Error>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// The task of reading one file of many.
#[derive(Debug)]
pub struct ReadFile {
    largest: u64,
    base: Base,
}

impl Task for ReadFile {
    type Input = PathBuf;
    type Output = Result<Bytes, Error>;
    type Scratch = Arena;

    fn run(
        &self,
        arena: &mut Arena,
        path: PathBuf,
        context: &mut TaskContext<'_>,
    ) -> Result<Bytes, Error> {
        self.read(arena, &path, context)
    }

    fn cancelled(&self, path: PathBuf) -> Result<Bytes, Error> {
        Err(self.not_begun(&path))
    }

    fn failed(&self, result: &Result<Bytes, Error>) -> bool {
        result.is_err()
    }

    #[cfg(feature = "store")]
    fn is_request(&self, path: &PathBuf) -> bool {
        self.base.is_url(path)
    }
}

impl ReadFile {
    /// Reads the file at `path` into memory of `arena`.
    pub fn read(
        &self,
        arena: &mut Arena,
        path: &Path,
        context: &mut TaskContext<'_>,
    ) -> Result<Bytes, Error> {
        #[cfg(feature = "store")]
        if self.base.is_url(path) {
            let mut slot = Slot {
                arena,
                contents: Bytes::with_capacity(0),
            };
            store::read(path, self.largest, &mut slot, context)?;
            return Ok(slot.contents);
        }
        let file = self.base.open(path, raw::O_RDONLY, 0)?;
        // Closing a file that was only read cannot fail, so it is dropped.
        read_contents(raw::borrow(&file), self.largest, arena, context).map_err(|failure| {
            let (operation, reason) = failure.explain(self.largest);
            Error::at(operation, path, reason)
        })
    }

    /// Returns the error of a path that was cancelled before it began.
    pub fn not_begun(&self, path: &Path) -> Error {
        Error::cancelled(Operation::Read, path)
    }
}

/// The place of an object in an arena.
#[cfg(feature = "store")]
struct Slot<'a> {
    arena: &'a mut Arena,
    contents: Bytes,
}

#[cfg(feature = "store")]
impl store::Sink for Slot<'_> {
    fn begin(&mut self, size: usize, context: &mut TaskContext<'_>) -> io::Result<()> {
        context.reserve(size as u64);
        let contents = self.arena.allocate(size);
        self.contents = contents.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) {
        self.contents.extend_from_slice(bytes);
    }
}

/// The reason why a file was not read.
enum ReadFailure {
    /// The system call has failed.
    System(Operation, Errno),
    /// The file has this many bytes, more than allowed.
    TooLarge(u64),
    /// There is no memory for its contents.
    OutOfMemory,
}

impl ReadFailure {
    fn explain(self, largest: u64) -> (Operation, io::Error) {
        match self {
            Self::System(operation, errno) => (operation, errno.into()),
            Self::TooLarge(size) => (Operation::Read, too_large(size, largest)),
            Self::OutOfMemory => (Operation::Read, io::ErrorKind::OutOfMemory.into()),
        }
    }
}

/// Reads an open file to its end into memory of `arena`, which it reserves in `context`.
///
/// A file that grows meanwhile, or does not tell its size, is read whole. A file of more than
/// `largest` bytes is refused, and no memory is taken for it.
fn read_contents(
    file: BorrowedFile<'_>,
    largest: u64,
    arena: &mut Arena,
    context: &mut TaskContext<'_>,
) -> Result<Bytes, ReadFailure> {
    let status = raw::status(file).map_err(|errno| ReadFailure::System(Operation::Fstat, errno))?;
    let told = if status.is_regular { status.size } else { 0 };
    if told > largest {
        return Err(ReadFailure::TooLarge(told));
    }
    let size = usize::try_from(told).map_err(|_| ReadFailure::TooLarge(told))?;
    let mut held = 0;
    let mut contents = if size > 0 {
        // Room for one byte more lets one read find both the contents and their end.
        allocate(size + 1, &mut held, arena, context)?
    } else {
        // Most files without a size are empty. Memory of the arena is taken once the size is known.
        Bytes::with_capacity(UNKNOWN_SIZE)
    };
    loop {
        if contents.room() == 0 {
            let max = usize::try_from(largest).map_or(usize::MAX, |max| max.saturating_add(1));
            let room = contents.len().saturating_mul(2).max(UNKNOWN_SIZE);
            contents = copy(&contents, room.min(max), &mut held, arena, context)?;
        }
        let asked = contents.room();
        let count = contents
            .read(file, asked)
            .map_err(|errno| ReadFailure::System(Operation::Read, errno))?;
        if contents.len() as u64 > largest {
            return Err(ReadFailure::TooLarge(contents.len() as u64));
        }
        // As in `fs`: the end is where size and contents agree, or where a read finds nothing.
        if count == 0 || (count < asked && size > 0 && contents.len() == size) {
            break;
        }
    }
    if held == 0 {
        contents = copy(&contents, contents.len(), &mut held, arena, context)?;
    }
    context.moved(contents.len());
    Ok(contents)
}

/// Takes memory of the arena, and reserves what exceeds the bytes `held`.
fn allocate(
    room: usize,
    held: &mut u64,
    arena: &mut Arena,
    context: &mut TaskContext<'_>,
) -> Result<Bytes, ReadFailure> {
    context.reserve((room as u64).saturating_sub(*held));
    *held = room as u64;
    arena.allocate(room).ok_or(ReadFailure::OutOfMemory)
}

/// Copies the contents of a file whose size was not known, or wrong, to larger memory.
fn copy(
    contents: &Bytes,
    room: usize,
    held: &mut u64,
    arena: &mut Arena,
    context: &mut TaskContext<'_>,
) -> Result<Bytes, ReadFailure> {
    let mut copy = allocate(room, held, arena, context)?;
    copy.extend_from_slice(contents);
    Ok(copy)
}
