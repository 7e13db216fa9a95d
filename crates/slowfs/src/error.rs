//! Errors of mounting and of arguments.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error, worded for the person who asked for the mount.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The profile, parameter or fault does not exist or has a wrong value.
    Argument(String),
    /// A step of mounting failed.
    System {
        /// The step, to follow *cannot*.
        step: &'static str,
        /// The path that the step was about.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// FUSE is not supported on this system.
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
