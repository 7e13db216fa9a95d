//! The outcome of a call for a tree.

use napi_sys as sys;
use smallfry::Error;
use smallfry::tree::{Report, TreeError};

use crate::errors::error_with_path;
use crate::value::{array, double_value};

/// The counts of a call, and the errors of the entries that it left.
pub(crate) struct Outcome {
    report: Report,
    errors: Vec<Error>,
}

impl From<Result<Report, TreeError>> for Outcome {
    fn from(result: Result<Report, TreeError>) -> Self {
        match result {
            Ok(report) => Self {
                report,
                errors: Vec::new(),
            },
            Err(error) => Self {
                report: error.report(),
                errors: error.into_errors(),
            },
        }
    }
}

impl Outcome {
    /// Makes the value that JavaScript gets: `[files, directories, bytes, ...errors]`, each error
    /// as [`error_with_path`] makes it.
    pub(crate) fn value(&self, env: sys::napi_env) -> sys::napi_value {
        let Report {
            files,
            directories,
            bytes,
            ..
        } = self.report;
        let counts = [files, directories, bytes].map(|count| double_value(env, count as f64));
        let errors = self.errors.iter().map(|error| error_with_path(env, error));
        array(env, &counts.into_iter().chain(errors).collect::<Vec<_>>())
    }
}
