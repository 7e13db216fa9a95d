//! The reason why a run stops: one line for the user, and an exit code.

use derive_more::with_trait::Display;
use std::path::Path;

#[derive(Debug, Display)]
pub(crate) enum Failure {
    /// The user or the system asked to stop.
    Interrupted,
    /// The line for standard error.
    Said(String),
}

/// The outcome of a step. The outer error stops the run, the inner one leaves something out.
pub(crate) type Attempt<T, E = String> = Result<Result<T, E>, Failure>;

impl Failure {
    pub(crate) fn said(message: impl Into<String>) -> Self {
        Self::Said(message.into())
    }

    /// Returns a function for `map_err` that says `cannot <operation> <path>: <error>`.
    pub(crate) fn at<E: Display>(operation: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        move |error| Self::Said(format!("cannot {operation} {}: {error}", path.display()))
    }

    /// Returns 130, as shells do, for an interrupted run.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Said(_) => 1,
        }
    }
}
