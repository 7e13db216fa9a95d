//! Why there is no slow disk.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// What went wrong, in words for whoever asked for the mount.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A profile, parameter or fault that is not one.
    Argument(String),
    /// A step of mounting failed.
    System {
        /// What was tried, as in *cannot ...*.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The system has no FUSE that is supported.
    Unsupported,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(message) => formatter.write_str(message),
            Self::System { step, path, source } => {
                write!(formatter, "cannot {step} {}: {source}", path.display())
            }
            Self::Unsupported => {
                formatter.write_str("a simulated disk needs FUSE on Linux; this system has none")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Argument(_) | Self::Unsupported => None,
        }
    }
}
