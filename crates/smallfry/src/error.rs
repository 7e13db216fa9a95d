//! Errors with their operation and path.

use std::fmt;
use std::io;
use std::path::Path;

/// The operation that failed, named after its system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Opening or creating the file. Also options that exclude each other.
    Open,
    /// Reading from the file. Also contents that are not UTF-8.
    Read,
    /// Writing to the file.
    Write,
    /// Closing the file. Some systems report a failed write only then.
    Close,
    /// Getting size and kind of the open file.
    Fstat,
    /// Getting size, kind and times of the file at the path.
    Stat,
    /// Creating the directories above the file.
    Mkdir,
    /// Copying one file to another, with all its steps.
    Copy,
    /// Renaming a file.
    Rename,
    /// Removing the file.
    Unlink,
    /// Removing a directory.
    Rmdir,
    /// Flushing a file with its metadata, or a directory.
    Fsync,
    /// Flushing the contents of a file.
    Fdatasync,
    /// Flushing a whole file system, with all files of a batch on it.
    Syncfs,
    /// Reading a symbolic link, to find the file that is to be replaced.
    Readlink,
    /// Making a symbolic link.
    Symlink,
    /// Making another name of a file.
    Link,
    /// Giving a new file the permissions of the old one.
    Fchmod,
    /// Giving a new file the owner and group of the old one.
    Fchown,
    /// Reading the access control list and extended attributes of the old file, or giving them to a
    /// new one.
    Fsetxattr,
    /// Opening and listing a directory, and getting the kind of its entries.
    Readdir,
}

impl Operation {
    /// Returns the name of the system call, as in its manual page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Close => "close",
            Self::Fstat => "fstat",
            Self::Stat => "stat",
            Self::Mkdir => "mkdir",
            Self::Copy => "copy",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Rmdir => "rmdir",
            Self::Readdir => "readdir",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Syncfs => "syncfs",
            Self::Readlink => "readlink",
            Self::Symlink => "symlink",
            Self::Link => "link",
            Self::Fchmod => "fchmod",
            Self::Fchown => "fchown",
            Self::Fsetxattr => "fsetxattr",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An I/O error with its operation and path.
///
/// It prints as `operation path: reason`. It turns into an [`io::Error`] with `?`, keeps its kind
/// and prints the same. [`io::Error::get_ref`] then returns this error.
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
///
/// It is one pointer wide, so that a batch can keep a million results.
pub struct Error(Box<Inner>);

struct Inner {
    operation: Operation,
    path: Option<Box<Path>>,
    destination: Option<Box<Path>>,
    source: io::Error,
}

impl Error {
    #[cold]
    pub(crate) fn at(operation: Operation, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::new(operation, Some(path), None, source.into())
    }

    #[cold]
    pub(crate) fn on_open_file(operation: Operation, source: impl Into<io::Error>) -> Self {
        Self::new(operation, None, None, source.into())
    }

    #[cold]
    pub(crate) fn between(operation: Operation, from: &Path, to: &Path, source: io::Error) -> Self {
        Self::new(operation, Some(from), Some(to), source)
    }

    /// Makes the error of an operation that did not begin because its batch was cancelled.
    #[cold]
    pub(crate) fn cancelled(operation: Operation, path: &Path) -> Self {
        Self::at(operation, path, io::Error::other(Cancelled))
    }

    fn new(
        operation: Operation,
        path: Option<&Path>,
        destination: Option<&Path>,
        source: io::Error,
    ) -> Self {
        Self(Box::new(Inner {
            operation,
            path: path.map(Box::from),
            destination: destination.map(Box::from),
            source,
        }))
    }

    /// Makes a copy. A source that is no system error keeps its kind and text.
    #[cold]
    pub(crate) fn duplicate(&self) -> Self {
        let source = copy_of(&self.0.source);
        let (path, destination) = (self.path(), self.destination());
        Self::new(self.0.operation, path, destination, source)
    }

    /// Returns the operation that failed.
    pub const fn operation(&self) -> Operation {
        self.0.operation
    }

    /// Returns the path of the operation; `None` if it was called with an open file.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Returns the destination of a copy or a rename.
    pub fn destination(&self) -> Option<&Path> {
        self.0.destination.as_deref()
    }

    /// Returns the kind of the error in the standard library's terms.
    pub fn kind(&self) -> io::ErrorKind {
        self.0.source.kind()
    }

    /// Returns the error number, if the error comes from the operating system.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.raw_os_error()
    }

    /// Returns true if the batch was cancelled before this operation began.
    ///
    /// The kind is then [`io::ErrorKind::Other`], not [`io::ErrorKind::Interrupted`], which callers
    /// retry.
    pub fn is_cancelled(&self) -> bool {
        let reason = self.0.source.get_ref();
        reason.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Cancelled>)
    }

    /// Returns the error without its operation and path.
    pub const fn io_error(&self) -> &io::Error {
        &self.0.source
    }

    /// Takes the error, without its operation and path.
    pub fn into_io_error(self) -> io::Error {
        self.0.source
    }
}

/// The source of an error of a cancelled operation.
#[derive(Debug)]
struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled before it began")
    }
}

impl std::error::Error for Cancelled {}

/// Copies an error: its number, or else its kind and text.
#[cold]
pub(crate) fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// Makes the error of a file of `size` bytes, which is more than the caller allows.
#[cold]
pub(crate) fn too_large(size: u64, limit: u64) -> io::Error {
    let reason = format!("the file has {size} bytes, more than the limit of {limit}");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("operation", &self.0.operation)
            .field("path", &self.0.path)
            .field("destination", &self.0.destination)
            .field("source", &self.0.source)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.operation)?;
        // What is in memory has an empty path.
        if let Some(path) = self.path().filter(|path| !path.as_os_str().is_empty()) {
            write!(f, " {}", path.display())?;
        }
        if let Some(destination) = &self.0.destination {
            write!(f, " to {}", destination.display())?;
        }
        write!(f, ": {}", self.0.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.source)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
        assert_eq!(size_of::<Result<u32, Error>>(), 2 * size_of::<usize>());
    }

    #[test]
    fn cancelled_differs_from_other_errors_and_is_not_interrupted() {
        let path = Path::new("a");
        let error = Error::cancelled(Operation::Read, path);
        assert!(error.is_cancelled());
        assert_eq!(error.kind(), io::ErrorKind::Other);
        assert_eq!(error.to_string(), "read a: cancelled before it began");
        for reason in [
            io::Error::other("cancelled before it began"),
            io::ErrorKind::Interrupted.into(),
        ] {
            assert!(!Error::at(Operation::Read, path, reason).is_cancelled());
        }
    }

    #[test]
    fn too_large_names_both_sizes() {
        let error = Error::at(Operation::Read, Path::new("a"), too_large(11, 10));
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(!error.is_cancelled());
        assert_eq!(
            error.to_string(),
            "read a: the file has 11 bytes, more than the limit of 10"
        );
    }
}
