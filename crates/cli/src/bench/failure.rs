//! Why a run stops: one line for the user, and an exit code.

use std::fmt::Display;
use std::path::Path;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The user, or the system, asked to stop.
    Interrupted,
    /// Said on standard error.
    Said(String),
}

impl Failure {
    pub(crate) fn said(message: impl Into<String>) -> Self {
        Self::Said(message.into())
    }

    /// `cannot <operation> <path>: <error>`, for `map_err`.
    pub(crate) fn at<E: Display>(operation: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        move |error| Self::Said(format!("cannot {operation} {}: {error}", path.display()))
    }

    /// 130 is what shells give for an interrupted command.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Said(_) => 1,
        }
    }
}
