//! What a write survives: levels, atomic replacement, and one barrier for a batch.
//!
//! Closing a file does not flush it. What was written is in the memory of the system, which writes it to the disk seconds
//! later, and after a power failure it may be missing, empty or torn. A program that must not lose it asks for a flush, and a
//! flush takes milliseconds; so a level says how much must survive, and a batch pays for it once.
//!
//! | job | call |
//! |---|---|
//! | a file whose contents must survive | [`WriteOptions::durability`] with [`Durability::Data`] |
//! | a new file that must be there after a power failure | the same with [`Durability::Full`] |
//! | a file that must never be seen half written, nor be lost | [`WriteOptions::replace`] with [`Durability::Full`] |
//! | many of those | [`bulk::Writer`] with the same options: one barrier for all of them |
//! | an open file, a directory | [`sync_file`], [`sync_dir`] |
//! | what a power failure left of replacements | [`remove_temporary_files`] |
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let out = directory.path().join("dist");
//! use smallfry::Durability;
//! use smallfry::bulk::Writer;
//!
//! let pages = (1..=100).map(|page| (out.join(format!("{page}.html")), format!("<h1>{page}</h1>")));
//! let mut writer = Writer::new();
//! writer.create_parents(true).durability(Durability::Full).replace(true);
//! // All of them are on the disk when this returns.
//! writer.write(pages).into_result()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Levels
//!
//! [`Durability::None`] is the system's cache, as in std. [`Durability::Data`] flushes the file: contents and size survive, if
//! its name does. [`Durability::Full`] flushes the directory as well, and for directories made on the way the ones above
//! them. Which call that is on which system, and what file systems make of it, stands in `docs/durability.md`.
//!
//! # Replacement
//!
//! A *temporary file* is written: a file beside the target, made anew with a name like `.app.js.0123456789abcdef.smallfry`. It is given
//! the permissions, the owner and group, the access control list and the extended attributes of the file that is there, is
//! flushed if a level asks for that, and takes the target's name in one step. A symbolic link stays, and what it leads to is
//! replaced. With [`append`](WriteOptions::append) the temporary file begins with a copy of what is there.
//!
//! It is another file then: other hard links keep the old contents, who has the old one open keeps reading it, who watches the
//! file itself and not its directory hears of its removal, and the time of its making is new. On Unix a read-only file is replaced,
//! too, as its directory decides that. Not kept: on Windows the access control list, on Linux capabilities and hashes of the old
//! contents (`security.capability`, `security.ima`, `security.evm`), on the BSDs extended attributes.
//!
//! An error or a panic leaves no temporary file. The end of the process by a signal, or of the power, may leave one for each file that
//! was being replaced; [`remove_temporary_files`] finds them.
//!
//! # Errors
//!
//! Besides those of [`fs::write`](crate::fs::write()): [`Operation::Fsync`], [`Operation::Fdatasync`] or [`Operation::Syncfs`] if
//! flushing failed, with the directory's path if it was that; of replacement [`Operation::Rename`] with both paths,
//! [`Operation::Readlink`] for a link that leads nowhere, and [`Operation::Stat`], [`Operation::Fstat`], [`Operation::Fchown`],
//! [`Operation::Fchmod`], [`Operation::Fsetxattr`] if something could not be kept, such as an owner that is somebody else. Up to
//! the rename the old file is whole and untouched. A target that is a directory is refused with
//! [`IsADirectory`](std::io::ErrorKind::IsADirectory), a pipe or device with
//! [`InvalidInput`](std::io::ErrorKind::InvalidInput), one that something is mounted on with
//! [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) unless [`WriteOptions::in_place_if_busy`].
//!
//! A flush that failed is never tried again: the system may have thrown away what it could not write, and a second flush
//! would succeed without it. The file has an error for good; after a failed barrier every file of the batch on that file system
//! has, since nobody knows which were lost. Write them anew.
//!
//! # What is not promised
//!
//! - That a disk obeys: some answer a flush before they have written.
//! - Names of directories that were there already, and were never flushed.
//! - An order between files. In a batch some may survive a crash before it returns, and others not.

mod barrier;
mod target;
mod temporary_file;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::bulk::place::Place;
use crate::error::{Error, Operation};
use crate::fs::{Outcome, WriteOptions};
use crate::raw::{self, AsFile, BorrowedFile};
use crate::sys;

#[cfg(doc)]
use crate::bulk;
pub(crate) use barrier::Barrier;

/// Whether a flush has failed in this process: from then on no file is taken for right already because it reads as it should.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// What of a write must survive a crash of the system, such as a power failure, once the call has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing is flushed. It survives a crash of the program only.
    #[default]
    None,
    /// The contents and the size. Of a new file the name may be lost, and the file with it.
    Data,
    /// The name as well.
    Full,
}

impl Durability {
    /// Flushes an open file, and says by which operation if that fails.
    fn flush(self, file: BorrowedFile<'_>) -> Result<(), (Operation, raw::Errno)> {
        let (operation, done) = match self {
            Self::None => return Ok(()),
            Self::Data => (Operation::Fdatasync, sys::flush_contents(file)),
            Self::Full => (Operation::Fsync, sys::flush_file(file)),
        };
        done.map_err(|error| {
            // Not what cannot be flushed at all, such as a pipe.
            if io::Error::from(error).kind() != io::ErrorKind::InvalidInput {
                note_failure();
            }
            (operation, error)
        })
    }
}

/// Flushes an open file: its contents and size with [`Durability::Data`], all its metadata too with [`Durability::Full`].
/// Nothing with [`Durability::None`]. The file's name is another matter: [`sync_dir`].
///
/// By the descriptor that wrote it: errors of writing that happened before a file was opened are told to others.
///
/// # Errors
///
/// [`Operation::Fdatasync`] or [`Operation::Fsync`], without a path. Some of what was written may be lost then, and calling
/// again does not bring it back, even if that succeeds.
///
/// ```
/// use smallfry::durability::{Durability, sync_file};
/// use std::io::Write;
///
/// let mut file = tempfile::tempfile()?;
/// file.write_all(b"text")?;
/// sync_file(&file, Durability::Data)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// [fdatasync(2)](https://man7.org/linux/man-pages/man2/fdatasync.2.html),
/// [`F_FULLFSYNC`](https://www.manpagez.com/man/2/fcntl/),
/// [FlushFileBuffers](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-flushfilebuffers)
pub fn sync_file(file: impl AsFile, level: Durability) -> Result<(), Error> {
    level
        .flush(raw::borrow(&file))
        .map_err(|(operation, reason)| Error::on_open_file(operation, reason))
}

/// Flushes a directory: the names in it, as they are now. Windows has no such call, and nothing happens.
///
/// # Errors
///
/// [`Operation::Open`] or [`Operation::Fsync`], with the path.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("a"), directory.path().join("b"));
/// # smallfry::fs::write(&from, "text")?;
/// smallfry::fs::rename(&from, &to)?;
/// smallfry::durability::sync_dir(directory.path())?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub fn sync_dir(path: impl AsRef<Path>) -> Result<(), Error> {
    sync_dir_of(&Place::default(), path.as_ref())
}

fn sync_dir_of(place: &Place, path: &Path) -> Result<(), Error> {
    if !sys::FLUSHES_DIRECTORIES {
        return Ok(());
    }
    let directory = place.open_directory(path);
    let directory = directory.map_err(|reason| Error::at(Operation::Open, path, reason))?;
    flush_directory(&directory, path)
}

/// Flushes a directory that is open, called `path`.
fn flush_directory(directory: &raw::OwnedFile, path: &Path) -> Result<(), Error> {
    sys::flush_directory(directory).map_err(|reason| {
        note_failure();
        Error::at(Operation::Fsync, path, reason)
    })
}

fn note_failure() {
    HAS_FAILED.store(true, Ordering::Relaxed);
}

/// See [`HAS_FAILED`].
fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Removes temporary files that a crash has left in `directory`, not below it: files with names as [replacement](self#replacement) makes
/// them, that were not written to for `unused`. Returns their paths.
///
/// Nothing tells a temporary file that is left from one that is being written but its age, so that should be longer than any batch
/// takes: an hour, say.
///
/// # Errors
///
/// [`Operation::Readdir`] with the directory, [`Operation::Stat`] or [`Operation::Unlink`] with the temporary file; those before it
/// are gone. One that somebody else removes meanwhile is no error.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// use std::time::Duration;
///
/// # let cache = directory.path();
/// let removed = smallfry::durability::remove_temporary_files(cache, Duration::from_secs(3600))?;
/// assert_eq!(removed.len(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_temporary_files(
    directory: impl AsRef<Path>,
    unused: Duration,
) -> Result<Vec<PathBuf>, Error> {
    temporary_file::remove_all(directory.as_ref(), unused)
}

/// Writes one file with options that ask for more than writing.
pub(crate) fn write_one(
    options: &WriteOptions,
    path: &Path,
    bytes: &[u8],
) -> Result<Outcome, Error> {
    let barrier = Barrier::for_one(options);
    let outcome = barrier.write(path, bytes, 0)?;
    match barrier.finish().pop() {
        Some((_, error)) => Err(error),
        None => Ok(outcome),
    }
}

/// A directory cannot be replaced by a file.
fn is_a_directory(path: &Path) -> Error {
    let reason = io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
    Error::at(Operation::Open, path, reason)
}
