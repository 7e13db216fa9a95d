//! Whole files, closed by the [`Closer`]: drop-in for the functions of [`std::fs`].
//!
//! The functions do the same as those of [`crate::fs`]. Where a close is deferred, its error goes
//! to [`Closer::drain`] or to the sink. Where it is not, the function returns it. Closing a file
//! that was only read has no error to report.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! use smallfry::close::{Closer, fs};
//!
//! let path = directory.path().join("a");
//! fs::write(&path, "text")?;
//! assert_eq!(fs::read_to_string(&path)?, "text");
//! assert!(Closer::global().drain().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::path::Path;

use crate::closer::Closer;
use crate::error::{Error, Operation};
use crate::fs::{read_path, utf8, write_and_leave};
use crate::write::WriteOptions;
use crate::write::copy::copy_by_path;

/// Reads a whole file, as [`crate::fs::read`] does.
///
/// # Errors
///
/// The errors of [`crate::fs::read`].
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let mut contents = Vec::new();
    let file = read_path(path, &mut contents)?;
    let closed = Closer::global().close_known(file, path, false);
    // The file was only read, so its close has no error to report.
    drop(closed);
    Ok(contents)
}

/// Reads a whole file that holds UTF-8, as [`crate::fs::read_to_string`] does.
///
/// # Errors
///
/// The errors of [`crate::fs::read_to_string`].
pub fn read_to_string(path: impl AsRef<Path>) -> Result<String, Error> {
    let path = path.as_ref();
    utf8(path, read(path)?)
}

/// Writes a whole file, as [`crate::fs::write()`] does.
///
/// # Errors
///
/// The errors of [`crate::fs::write()`]; [`Operation::Close`] only if the close was not deferred.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let path = path.as_ref();
    match write_and_leave(&WriteOptions::new(), path, bytes.as_ref())? {
        Some(file) => Closer::global().close_known(file, path, true).map(drop),
        None => Ok(()),
    }
}

/// Copies contents and permissions of a file, as [`crate::fs::copy`] does. On macOS and Windows the
/// system opens and closes both files itself, so no close is deferred.
///
/// # Errors
///
/// The errors of [`crate::fs::copy`].
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let close = |file, path: &Path, written| {
        let closed = Closer::global().close_known(file, path, written);
        closed.map(drop).map_err(Error::into_io_error)
    };
    copy_by_path(from, to, close)
        .map_err(|reason| Error::between(Operation::Copy, from, to, reason))
}
