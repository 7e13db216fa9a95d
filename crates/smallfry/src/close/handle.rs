//! What can be closed.

use std::fmt;
use std::io;

use super::pending::guarded;
use crate::error::Operation;
use crate::raw::{self, BorrowedFile, OwnedFile};

/// An open file on its way to be closed, without its type.
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
}

/// Something that has more to do than to close one file: it holds bytes back, or several handles.
pub trait Close: fmt::Debug + Send {
    /// Writes what it holds back and closes what it has, on a thread that may block.
    ///
    /// # Errors
    ///
    /// The first one, and the step that failed. Everything is closed even so.
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)>;

    /// The file to ask which path and which file system it belongs to; `None` if there is none to ask.
    fn file(&self) -> Option<BorrowedFile<'_>>;

    /// Whether nothing is held back, so that there is no more to wait for than when a file is closed. What is not idle is
    /// never closed where it is dropped, unless the queue is full.
    fn is_idle(&self) -> bool {
        false
    }
}

impl Handle {
    /// For [`FastCloseable`](super::FastCloseable) types that have more than a file.
    pub fn new(close: impl Close + 'static) -> Self {
        Self(Kind::Other(Box::new(close)))
    }

    /// The file to ask which path and which file system it belongs to.
    pub fn file(&self) -> Option<BorrowedFile<'_>> {
        match &self.0 {
            Kind::File(file) => Some(raw::borrow(file)),
            Kind::Other(other) => guarded(|| other.file())?,
        }
    }

    /// Whether there is more to do than to close a file, so that it must not be done where waiting is forbidden.
    pub(super) fn has_more(&self) -> bool {
        match &self.0 {
            Kind::File(_) => false,
            Kind::Other(other) => !guarded(|| other.is_idle()).unwrap_or(false),
        }
    }

    pub(super) fn close(self) -> Result<(), (Operation, io::Error)> {
        match self.0 {
            Kind::File(file) => {
                raw::close(file).map_err(|reason| (Operation::Close, reason.into()))
            }
            Kind::Other(other) => other.close(),
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
