//! Whole files: read, write, append, copy, rename.
//!
//! The functions have the names of [`std::fs`] and do the same. [`WriteOptions`] adds what they
//! lack. Errors name their operation and path.

use std::io;
use std::path::Path;

use crate::closer::Closer;
use crate::durable;
use crate::error::{Error, Operation};
use crate::path;
use crate::path::parents::{Parents, WorkingDirectory};
use crate::raw::{self, AsFile, BorrowedFile, OwnedFile, Status};
use crate::sys;
use crate::write::copy::copy_by_path;
use crate::write::one::{find_unchanged, open_and_write};
use crate::write::{Durability, Outcome, WriteOptions};

/// The first room for a file that does not tell its size: a pipe, or a file under `/proc`. In
/// bytes.
const UNKNOWN_SIZE: usize = 8 * 1024;

/// Reads a whole file.
///
/// The size from the system only sets the room for the contents. So files that grow meanwhile, and
/// files under `/proc` whose size is 0, are read whole.
///
/// # Errors
///
/// [`Operation::Open`], [`Operation::Fstat`] or [`Operation::Read`] with the error of the system. A
/// directory fails with `Read` on Unix and with `Open` on Windows.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("a");
/// smallfry::fs::write(&path, b"\x00\xff")?;
/// assert_eq!(smallfry::fs::read(&path)?, b"\x00\xff");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
    let mut contents = Vec::new();
    // Closing a file that was only read cannot fail, so it is dropped.
    read_path(path.as_ref(), &mut contents)?;
    Ok(contents)
}

/// Reads a whole file that holds UTF-8.
///
/// # Errors
///
/// The errors of [`read`], and [`Operation::Read`] with [`io::ErrorKind::InvalidData`] if the
/// contents are not UTF-8. A byte order mark is kept.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("a");
/// smallfry::fs::write(&path, b"\xff")?;
/// let error = smallfry::fs::read_to_string(&path).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_to_string(path: impl AsRef<Path>) -> Result<String, Error> {
    let path = path.as_ref();
    utf8(path, read(path)?)
}

/// Returns the contents of a file as a string.
#[inline]
pub(crate) fn utf8(path: &Path, contents: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(contents).map_err(|error| {
        let reason = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
        Error::at(Operation::Read, path, reason)
    })
}

/// Reads a whole file into `buffer`, replacing its contents. Returns the length of the file.
///
/// Use it for many files one after the other: the buffer is allocated once, and its memory stays in
/// the cache.
///
/// # Errors
///
/// The errors of [`read`]. The buffer then holds the bytes up to the error.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # for name in ["a", "b"] { smallfry::fs::write(directory.path().join(name), name)?; }
/// let mut buffer = Vec::new();
/// let mut total = 0;
/// for name in ["a", "b"] {
///     total += smallfry::fs::read_into(directory.path().join(name), &mut buffer)?;
/// }
/// assert_eq!(total, 2);
/// assert_eq!(buffer, b"b");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_into(path: impl AsRef<Path>, buffer: &mut Vec<u8>) -> Result<usize, Error> {
    buffer.clear();
    read_path(path.as_ref(), buffer)?;
    Ok(buffer.len())
}

/// Reads an open file from its current position to its end. The file stays open.
///
/// # Errors
///
/// [`Operation::Fstat`] or [`Operation::Read`], without a path.
///
/// ```
/// use std::io::{Seek, SeekFrom, Write};
///
/// let mut file = tempfile::tempfile()?;
/// file.write_all(b"head body")?;
/// file.seek(SeekFrom::Start(5))?;
/// assert_eq!(smallfry::fs::read_from(&file)?, b"body");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_from(file: impl AsFile) -> Result<Vec<u8>, Error> {
    let mut contents = Vec::new();
    read_open(raw::borrow(&file), &mut contents)
        .map_err(|(operation, reason)| Error::on_open_file(operation, reason))?;
    Ok(contents)
}

/// Writes a whole file. A missing file is created with mode 0666 less the umask. An existing file
/// is truncated first.
///
/// # Errors
///
/// [`Operation::Open`], [`Operation::Write`] or [`Operation::Close`]. After the last two the file
/// exists with some of the bytes or none.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// smallfry::fs::write(directory.path().join("a"), "text")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    WriteOptions::new().write(path, bytes).map(drop)
}

/// Appends to a file. A missing file is created.
///
/// # Errors
///
/// The errors of [`write()`].
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("log");
/// smallfry::fs::append(&path, "one\n")?;
/// smallfry::fs::append(&path, "two\n")?;
/// assert_eq!(smallfry::fs::read(&path)?, b"one\ntwo\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn append(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    WriteOptions::new()
        .append(true)
        .write(path, bytes)
        .map(drop)
}

/// Writes all of `bytes` to an open file at its current position. The file stays open.
///
/// # Errors
///
/// [`Operation::Write`], without a path. Some of the bytes may have been written.
///
/// ```
/// let file = tempfile::tempfile()?;
/// smallfry::fs::write_to(&file, "one ")?;
/// smallfry::fs::write_to(&file, "two")?;
/// assert_eq!(file.metadata()?.len(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn write_to(file: impl AsFile, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    raw::write_all(raw::borrow(&file), bytes.as_ref())
        .map_err(|reason| Error::on_open_file(Operation::Write, reason))
}

/// Copies contents and permissions of a file, and returns the length. An existing destination is
/// replaced. A file that is copied to itself may end empty.
///
/// The kernel copies where it can (`copy_file_range`, `fclonefileat`, `CopyFileEx`), and shares
/// blocks on file systems that can. On macOS this is [`std::fs::copy`], and the error of closing
/// the copy is lost.
///
/// # Errors
///
/// [`Operation::Copy`] with both paths. A source that is not a regular file fails with
/// [`io::ErrorKind::InvalidInput`] before the destination is touched. After other errors the
/// destination may exist with some of the bytes or none.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("a"), directory.path().join("b"));
/// smallfry::fs::write(&from, "text")?;
/// assert_eq!(smallfry::fs::copy(&from, &to)?, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let close = |file, _: &Path, _| Ok(raw::close(file)?);
    copy_by_path(from, to, close)
        .map_err(|reason| Error::between(Operation::Copy, from, to, reason))
}

/// Renames a file or a directory in one step. A program that opens `to` finds the old file or the
/// renamed one, and never none. An existing file is replaced. Both names must be on one file
/// system.
///
/// On Windows a file cannot be replaced while another program has it open without sharing its
/// deletion. Virus scanners, indexers and editors do so for moments. So a refusal (access denied, a
/// sharing or lock violation) is retried for about a second, with a backoff from 1 ms to 64 ms. A
/// target that is a directory or read-only fails at once. Other systems need no retries.
///
/// # Errors
///
/// [`Operation::Rename`] with both paths. [`Operation::Close`] or [`Operation::Write`] if the
/// pending close of the file ([`smallfry::close`](crate::close)) has failed; nothing is renamed
/// then.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("a.new"), directory.path().join("a"));
/// smallfry::fs::write(&to, "old")?;
/// smallfry::fs::write(&from, "new")?;
/// smallfry::fs::rename(&from, &to)?;
/// assert_eq!(smallfry::fs::read(&to)?, b"new");
///
/// let error = smallfry::fs::rename(&from, &to).unwrap_err();
/// assert_eq!(error.operation(), smallfry::Operation::Rename);
/// assert_eq!(error.destination(), Some(to.as_path()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let closer = Closer::global();
    if sys::OPEN_FILES_ARE_IN_THE_WAY {
        // This waits for all pending files, since either path may be a directory with open files.
        closer.wait();
    }
    // A server may get all contents only at the close, and no reader should find less under the new
    // name.
    closer.confirm(from)?;
    sys::rename(from, to).map_err(|reason| Error::between(Operation::Rename, from, to, reason))
}

impl WriteOptions {
    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`], and:
    ///
    /// - the errors of [`durable`](crate::durable#errors) with a level or
    ///   [`replace`](Self::replace);
    /// - [`Operation::Mkdir`] with the directory if [`create_parents`](Self::create_parents) fails;
    /// - [`io::ErrorKind::InvalidInput`] for options that exclude each other.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<Outcome, Error> {
        let (path, bytes) = (path.as_ref(), bytes.as_ref());
        if self.is_durable() {
            return durable::write_one(self, path, bytes);
        }
        let Some(file) = write_and_leave(self, path, bytes)? else {
            return Ok(Outcome::Unchanged);
        };
        raw::close(file).map_err(|reason| Error::at(Operation::Close, path, reason))?;
        Ok(Outcome::Written)
    }

    /// Writes all of `bytes` to an open file at its current position, and leaves it open.
    ///
    /// [`mode`](Self::mode) and [`create_parents`](Self::create_parents) have no effect.
    /// [`Durability::Full`] flushes the file only, which has no name here. Other options cannot
    /// apply to an open file and are refused with [`io::ErrorKind::InvalidInput`].
    ///
    /// # Errors
    ///
    /// [`Operation::Write`], [`Operation::Fsync`] or [`Operation::Fdatasync`], without a path. Some
    /// of the bytes may have been written.
    ///
    /// ```
    /// let file = tempfile::tempfile()?;
    /// smallfry::WriteOptions::new().write_to(&file, "text")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_to(&self, file: impl AsFile, bytes: impl AsRef<[u8]>) -> Result<Outcome, Error> {
        for (is_set, option) in [
            (self.append, "append"),
            (self.create_new, "create_new"),
            (self.only_if_changed, "only_if_changed"),
            (self.replace, "replace"),
        ] {
            if is_set {
                let reason = format!("{option} is not possible on a file that is open already");
                let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
                return Err(Error::on_open_file(Operation::Write, reason));
            }
        }
        write_to(&file, bytes)?;
        if self.durability != Durability::None {
            durable::sync_file(&file, self.durability)?;
        }
        Ok(Outcome::Written)
    }
}

/// Writes a file and leaves it open; `None` if it was left alone.
#[inline]
pub(crate) fn write_and_leave(
    options: &WriteOptions,
    path: &Path,
    bytes: &[u8],
) -> Result<Option<OwnedFile>, Error> {
    let open = |flags| {
        path::open(path, flags, options.mode)
            .map_err(|reason| Error::at(Operation::Open, path, reason))
    };
    options.check(path)?;
    if options.only_if_changed && find_unchanged(bytes, open).is_some() {
        return Ok(None);
    }
    let open = |flags| {
        if options.create_parents {
            Parents::new().retry(&WorkingDirectory, path, || open(flags))
        } else {
            open(flags)
        }
    };
    open_and_write(options, path, bytes, open).map(Some)
}

/// An operation and its error, before the path is added.
type Failure = (Operation, io::Error);

#[inline]
pub(crate) fn read_path(path: &Path, contents: &mut Vec<u8>) -> Result<OwnedFile, Error> {
    let file: OwnedFile = path::open(path, raw::O_RDONLY, 0)
        .map_err(|reason| Error::at(Operation::Open, path, reason))?;
    read_open(raw::borrow(&file), contents)
        .map_err(|(operation, reason)| Error::at(operation, path, reason))?;
    Ok(file)
}

/// Appends the bytes from the file's position to its end.
#[inline]
fn read_open(file: BorrowedFile<'_>, contents: &mut Vec<u8>) -> Result<(), Failure> {
    let status = raw::status(file).map_err(|reason| (Operation::Fstat, reason.into()))?;
    let told = told_size(status);
    let room = told.map_or(UNKNOWN_SIZE, |size| size.saturating_add(1));
    reserve(contents, room)?;
    let start = contents.len();
    loop {
        if contents.len() == contents.capacity() {
            reserve(contents, UNKNOWN_SIZE)?;
        }
        let asked = contents.capacity() - contents.len();
        let count =
            sys::read_spare(file, contents).map_err(|reason| (Operation::Read, reason.into()))?;
        if count == 0 {
            return Ok(());
        }
        // A short read that ends at the known size is the end. Any other file (one that grew or
        // shrank, a pipe) ends only where a read finds nothing.
        if count < asked && told == Some(contents.len() - start) {
            return Ok(());
        }
    }
}

/// Returns the size of a regular file. 0 may be a file under `/proc`, so it does not count.
fn told_size(status: Status) -> Option<usize> {
    match usize::try_from(status.size) {
        Ok(size) if status.is_regular && size > 0 => Some(size),
        _ => None,
    }
}

fn reserve(contents: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
    // An exact reservation would copy a file without a known size for every piece.
    contents
        .try_reserve(room)
        .map_err(|_| (Operation::Read, io::ErrorKind::OutOfMemory.into()))
}
