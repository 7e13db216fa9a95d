//! Handles of any type that can be closed.

use std::any::Any;
use std::fmt;
use std::io;

use super::guard::catch;
use crate::error::Operation;
use crate::raw::{self, BorrowedFile, OwnedFile};

/// An open file to be closed, without its type.
///
/// ```
/// use smallfry::close::Handle;
///
/// let handle = Handle::from(tempfile::tempfile()?);
/// assert!(handle.file().is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Handle(Kind);

#[derive(Debug)]
enum Kind {
    File(OwnedFile),
    Other(Box<dyn Close>),
    /// A value that closes itself when it is dropped.
    Value(Box<dyn Any + Send>),
}

/// A file that holds bytes back, or several handles, so that closing it takes more than one call.
pub trait Close: fmt::Debug + Send {
    /// Writes the bytes that it holds back and closes its handles. It runs on a thread that may
    /// block.
    ///
    /// # Errors
    ///
    /// The first error, with the step that failed. All handles are closed in any case.
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)>;

    /// Returns the file whose path and file system count; `None` if there is none.
    fn file(&self) -> Option<BorrowedFile<'_>>;

    /// Returns true if it holds nothing back. A handle that is not idle is never closed where it is
    /// dropped, unless the queue is full.
    fn is_idle(&self) -> bool {
        false
    }
}

impl Handle {
    /// Makes the handle of a [`FastCloseable`](super::FastCloseable) type that has more than a
    /// file.
    pub fn new(close: impl Close + 'static) -> Self {
        Self(Kind::Other(Box::new(close)))
    }

    /// Makes the handle of a value that closes itself when it is dropped.
    pub(super) fn of_value(value: impl Send + 'static) -> Self {
        Self(Kind::Value(Box::new(value)))
    }

    /// Returns the file whose path and file system count.
    pub fn file(&self) -> Option<BorrowedFile<'_>> {
        match &self.0 {
            Kind::File(file) => Some(raw::borrow(file)),
            Kind::Other(other) => catch(|| other.file())?,
            Kind::Value(_) => None,
        }
    }

    /// Returns true for a value that closes itself. No file system tells how long that takes, and
    /// the child of a `fork` must not run the program's code a second time.
    pub(super) fn is_value(&self) -> bool {
        matches!(self.0, Kind::Value(_))
    }

    /// Returns true if it holds bytes back, so that closing must not happen on a thread that may
    /// not wait.
    pub(super) fn has_more(&self) -> bool {
        match &self.0 {
            Kind::File(_) | Kind::Value(_) => false,
            Kind::Other(other) => !catch(|| other.is_idle()).unwrap_or(false),
        }
    }

    pub(super) fn close(self) -> Result<(), (Operation, io::Error)> {
        match self.0 {
            Kind::File(file) => {
                raw::close(file).map_err(|reason| (Operation::Close, reason.into()))
            }
            Kind::Other(other) => other.close(),
            Kind::Value(value) => {
                drop(value);
                Ok(())
            }
        }
    }
}

impl From<OwnedFile> for Handle {
    fn from(file: OwnedFile) -> Self {
        Self(Kind::File(file))
    }
}

impl From<std::fs::File> for Handle {
    fn from(file: std::fs::File) -> Self {
        OwnedFile::from(file).into()
    }
}
