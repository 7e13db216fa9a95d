//! Errors of look-ups.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallfry::Operation;

use crate::file_url::UrlError;
use crate::invalid::Invalid;

/// A look-up that failed, with the path where it failed. Cloning is cheap, since one bad
/// package.json may fail the look-ups of many files.
#[derive(Clone, Debug)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    problem: Problem,
}

/// The cause of an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// This step failed. A missing package.json is no error.
    Io(Operation, io::Error),
    /// The package.json was read, and Node would refuse it.
    Invalid(Invalid),
    /// No file can have this path.
    Path(&'static str),
    /// No file can have this URL.
    Url(UrlError),
}

impl Error {
    #[cold]
    pub(crate) fn new(path: &Path, problem: Problem) -> Self {
        Self(Arc::new(Inner {
            path: path.to_owned(),
            problem,
        }))
    }

    /// The package.json that is to blame. For [`Problem::Path`] and [`Problem::Url`], the path or
    /// URL that was asked for.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The cause.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Line, column and reason, if the file was read and is invalid.
    pub fn invalid(&self) -> Option<&Invalid> {
        match &self.0.problem {
            Problem::Invalid(invalid) => Some(invalid),
            _ => None,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let path = self.0.path.display();
        match &self.0.problem {
            Problem::Io(operation, error) => write!(f, "{operation} {path}: {error}"),
            Problem::Invalid(invalid) => write!(f, "{path}:{invalid}"),
            Problem::Path(reason) => write!(f, "{path}: {reason}"),
            Problem::Url(error) => write!(f, "{path}: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.problem {
            Problem::Io(_, error) => Some(error),
            Problem::Invalid(invalid) => Some(invalid),
            Problem::Url(error) => Some(error),
            Problem::Path(_) => None,
        }
    }
}

impl From<Error> for io::Error {
    /// Keeps the kind and the text.
    fn from(error: Error) -> Self {
        let kind = match error.problem() {
            Problem::Io(_, source) => source.kind(),
            Problem::Invalid(_) => io::ErrorKind::InvalidData,
            Problem::Path(_) | Problem::Url(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
