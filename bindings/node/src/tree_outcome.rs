//! The outcome of a call for a tree.

use napi_sys as sys;
use smallfry::Error;
use smallfry::hash::{Digest, TreeDigest};
use smallfry::tree::{Report, TreeError};

use crate::errors::error_with_path;
use crate::value::{array, double_value, text, undefined};

/// The counts of a call, the errors of the entries that it left, and perhaps a digest.
pub(crate) struct Outcome {
    report: Report,
    errors: Vec<Error>,
    digest: Option<Digest>,
}

impl From<Result<Report, TreeError>> for Outcome {
    fn from(result: Result<Report, TreeError>) -> Self {
        match result {
            Ok(report) => Self {
                report,
                errors: Vec::new(),
                digest: None,
            },
            Err(error) => Self {
                report: error.report(),
                errors: error.into_errors(),
                digest: None,
            },
        }
    }
}

impl From<Result<TreeDigest, TreeError>> for Outcome {
    fn from(result: Result<TreeDigest, TreeError>) -> Self {
        let digest = result.as_ref().ok().map(|hashed| hashed.digest);
        Self {
            digest,
            ..result.map(|hashed| hashed.report).into()
        }
    }
}

impl Outcome {
    /// Makes the value that JavaScript gets: `[files, directories, bytes, errors, digest]`, each
    /// error as [`error_with_path`] makes it, and the digest in hexadecimal digits.
    pub(crate) fn value(&self, env: sys::napi_env) -> sys::napi_value {
        let Report {
            files,
            directories,
            bytes,
            ..
        } = self.report;
        let [files, directories, bytes] =
            [files, directories, bytes].map(|count| double_value(env, count as f64));
        let errors = self.errors.iter().map(|error| error_with_path(env, error));
        let errors = array(env, &errors.collect::<Vec<_>>());
        let digest = match &self.digest {
            Some(digest) => text(env, &digest.to_string()),
            None => undefined(env),
        };
        array(env, &[files, directories, bytes, errors, digest])
    }
}
