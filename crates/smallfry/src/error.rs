//! What went wrong, where, and why.

use std::fmt;
use std::io;
use std::path::Path;

/// The step that failed, by the name of its system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Opening or creating the file; also options that exclude each other, which are found before it.
    Open,
    /// Reading from the file; also contents that are not UTF-8 where a string was asked for.
    Read,
    /// Writing to the file.
    Write,
    /// Closing a file that was written: some systems report a failed write only now.
    Close,
    /// Asking for the size and kind of the open file.
    Fstat,
    /// Making the directories above the file.
    Mkdir,
    /// Copying one file to another, in all its steps.
    Copy,
}

impl Operation {
    /// The name of the system call, as in its manual page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Close => "close",
            Self::Fstat => "fstat",
            Self::Mkdir => "mkdir",
            Self::Copy => "copy",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An I/O error that knows its operation and its path.
///
/// It prints as `operation path: reason`. As an [`io::Error`], which `?` makes of it where one is expected, it keeps
/// the kind and prints the same; the `Error` itself is what [`io::Error::get_ref`] then gives.
///
/// ```
/// let error = smallfry::fs::read("no/such/file").unwrap_err();
/// assert_eq!(error.operation(), smallfry::Operation::Open);
/// assert_eq!(error.path(), Some("no/such/file".as_ref()));
/// assert!(error.to_string().starts_with("open no/such/file: "));
///
/// let error = std::io::Error::from(error);
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// assert!(error.to_string().starts_with("open no/such/file: "));
/// ```
pub struct Error {
    operation: Operation,
    path: Option<Box<Path>>,
    destination: Option<Box<Path>>,
    source: io::Error,
}

impl Error {
    #[cold]
    pub(crate) fn at(operation: Operation, path: &Path, source: impl Into<io::Error>) -> Self {
        Self {
            operation,
            path: Some(path.into()),
            destination: None,
            source: source.into(),
        }
    }

    #[cold]
    pub(crate) fn on_open_file(operation: Operation, source: impl Into<io::Error>) -> Self {
        Self {
            operation,
            path: None,
            destination: None,
            source: source.into(),
        }
    }

    #[cold]
    pub(crate) fn between(from: &Path, to: &Path, source: io::Error) -> Self {
        Self {
            operation: Operation::Copy,
            path: Some(from.into()),
            destination: Some(to.into()),
            source,
        }
    }

    /// The step that failed.
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// The path that the operation was given; `None` if it was given an open file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Where a copy should have gone.
    pub fn destination(&self) -> Option<&Path> {
        self.destination.as_deref()
    }

    /// What kind of error it is, in the standard library's terms.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The operating system's error number, if the error comes from there.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// The error without its operation and path.
    pub const fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// Takes the error out, without its operation and path.
    pub fn into_io_error(self) -> io::Error {
        self.source
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("operation", &self.operation)
            .field("path", &self.path)
            .field("destination", &self.destination)
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(path) = &self.path {
            write!(f, " {}", path.display())?;
        }
        if let Some(destination) = &self.destination {
            write!(f, " to {}", destination.display())?;
        }
        write!(f, ": {}", self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
