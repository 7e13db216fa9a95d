//! The reason why a run stops: one line for the user, and an exit code.

use derive_more::with_trait::Display;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, Display)]
pub(crate) enum Failure {
    /// The user or the system asked to stop, by a signal that has this exit code.
    #[display("interrupted")]
    Interrupted(u8),
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
}

/// Says on one line why the command stopped, if it did. An interrupted run returns what shells
/// return: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
pub(crate) fn exit_code(command: &str, outcome: Result<bool, Failure>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(Failure::Interrupted(code)) => ExitCode::from(code),
        Err(Failure::Said(message)) => {
            eprintln!("smallfry {command}: {message}");
            ExitCode::FAILURE
        }
    }
}
