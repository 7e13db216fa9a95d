//! Durable writes: levels, atomic replacement, and one barrier for many files.
//!
//! Closing a file does not flush it. The contents are in the page cache, and the system writes them
//! to the disk seconds later. After a power failure the file may be missing, empty or torn. A flush
//! prevents that and takes milliseconds. So a level says how much must survive, and a batch pays
//! for its flushes once.
//!
//! | job | call |
//! |---|---|
//! | keep the contents of a file | [`WriteOptions::durability`] with [`Durability::Data`] |
//! | keep a new file with its name | the same with [`Durability::Full`] |
//! | never show or keep half of a file | [`WriteOptions::replace`] with [`Durability::Full`] |
//! | the same for many files, with one barrier | [`bulk::Writer`](crate::bulk::Writer) with the same options |
//! | flush an open file, or a directory | [`sync_file`], [`sync_dir`] |
//! | remove temporary files that a power failure has left | [`remove_temporary_files`] |
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
//! [`Durability::None`] flushes nothing, as std. [`Durability::Data`] flushes the file: contents
//! and size survive if its name does. [`Durability::Full`] also flushes its directory, and the
//! directories above those that the write has created. `docs/durability.md` lists the system calls
//! and the promises of file systems.
//!
//! # Replacement
//!
//! The new contents go to a *temporary file* in the directory of the target, with a name like
//! `.app.js.0123456789abcdef.smallfry`. It gets the permissions, the owner and group, the access
//! control list and the extended attributes of the old file. It is flushed if a level is set, and
//! then renamed to the target in one step. A symbolic link stays, and its target is replaced. With
//! [`append`](WriteOptions::append) the temporary file begins with a copy of the old contents.
//!
//! The result is another file. Other hard links keep the old contents. Programs that have the old
//! file open keep reading it, and programs that watch the file itself see its removal. Its creation
//! time is new. On Unix a read-only file is replaced too, since its directory decides that. Some
//! attributes are lost:
//!
//! - on Windows, the access control list;
//! - on Linux, capabilities and hashes of the old contents (`security.capability`, `security.ima`,
//!   `security.evm`);
//! - on the BSDs, extended attributes.
//!
//! An error or a panic leaves no temporary file. A signal that ends the process, or a power
//! failure, may leave one for each file that was being replaced. [`remove_temporary_files`] removes
//! them.
//!
//! # Errors
//!
//! Besides those of [`fs::write`](crate::fs::write()):
//!
//! - [`Operation::Fsync`], [`Operation::Fdatasync`] or [`Operation::Syncfs`] if a flush has failed,
//!   with the path of the file or of its directory;
//! - [`Operation::Rename`] with both paths;
//! - [`Operation::Readlink`] for a dangling link;
//! - [`Operation::Stat`], [`Operation::Fstat`], [`Operation::Fchown`], [`Operation::Fchmod`] or
//!   [`Operation::Fsetxattr`] if an attribute of the old file cannot be kept, such as another
//!   owner.
//!
//! The old file stays whole up to the rename. A target that is a directory fails with
//! [`IsADirectory`](std::io::ErrorKind::IsADirectory), and a pipe or device with
//! [`InvalidInput`](std::io::ErrorKind::InvalidInput). A mount point fails with
//! [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) unless [`WriteOptions::in_place_if_busy`] is
//! set.
//!
//! A failed flush is never repeated: the system may have dropped what it could not write, and a
//! second flush would succeed without it. After a failed barrier all files of the batch on that
//! file system fail, since nothing tells which were lost. Write them again.
//!
//! # What is not promised
//!
//! - **An honest disk.** Some disks answer a flush before they have written.
//! - **Names of older directories** that existed before and were never flushed.
//! - **An order between files.** A crash during a batch may keep some files and lose others.

mod flush;
mod group_commit;
#[cfg(feature = "archive")]
mod replacement;
mod target;
mod temporary_file;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
#[cfg(doc)]
use crate::error::Operation;
use crate::path::Base;
use crate::raw::{self, AsFile};

pub use crate::write::Durability;
use crate::write::{Outcome, WriteOptions};
pub(crate) use flush::{flush_directory_of_tree, flush_file, flush_whole, has_failed};
pub(crate) use group_commit::GroupCommit;
#[cfg(feature = "archive")]
pub(crate) use replacement::Replacement;
#[cfg(feature = "archive")]
pub(crate) use temporary_file::is_temporary_of;
pub(crate) use temporary_file::new_name as temporary_name;

/// Flushes an open file: contents and size with [`Durability::Data`], all metadata with
/// [`Durability::Full`], nothing with [`Durability::None`]. [`sync_dir`] flushes its name.
///
/// Pass the descriptor that wrote the file. A descriptor that is opened later may miss earlier
/// errors.
///
/// # Errors
///
/// [`Operation::Fdatasync`] or [`Operation::Fsync`], without a path. Some of the contents may be
/// lost then, even if a second call succeeds.
///
/// ```
/// use smallfry::durable::{Durability, sync_file};
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
    flush_file(raw::borrow(&file), level)
        .map_err(|(operation, reason)| Error::on_open_file(operation, reason))
}

/// Flushes a directory, with the names in it. It does nothing on Windows, which has no such call.
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
/// smallfry::durable::sync_dir(directory.path())?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// [fsync(2)](https://man7.org/linux/man-pages/man2/fsync.2.html)
pub fn sync_dir(path: impl AsRef<Path>) -> Result<(), Error> {
    flush::sync_dir_of(&Base::default(), path.as_ref())
}

/// Removes temporary files of [replacements](self#replacement) that a crash has left in
/// `directory`. Returns their paths. It looks at no directories below.
///
/// A file that was written within `unused` stays. Only its age tells a file that was left from one
/// that is being written, so `unused` should be longer than any batch: an hour, say.
///
/// # Errors
///
/// [`Operation::Readdir`] with the directory. [`Operation::Stat`] or [`Operation::Unlink`] with the
/// temporary file, after those before it were removed. A file that another program removes
/// meanwhile is no error.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// use std::time::Duration;
///
/// # let cache = directory.path();
/// let removed = smallfry::durable::remove_temporary_files(cache, Duration::from_secs(3600))?;
/// assert_eq!(removed.len(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_temporary_files(
    directory: impl AsRef<Path>,
    unused: Duration,
) -> Result<Vec<PathBuf>, Error> {
    temporary_file::remove_all(directory.as_ref(), unused)
}

/// Writes one file with options that flush or replace it.
pub(crate) fn write_one(
    options: &WriteOptions,
    path: &Path,
    bytes: &[u8],
) -> Result<Outcome, Error> {
    let commit = GroupCommit::for_one(options);
    let outcome = commit.write(path, bytes, 0)?;
    match commit.finish().pop() {
        Some((_, error)) => Err(error),
        None => Ok(outcome),
    }
}
