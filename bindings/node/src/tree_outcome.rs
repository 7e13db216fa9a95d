//! The outcome of a call for a tree.

use std::path::PathBuf;

use napi_sys as sys;
use smallfry::Error;
use smallfry::hash::{Digest, TreeDigest};
use smallfry::tree::{Change, Report, TreeError};

use crate::errors::error_with_path;
use crate::value::{array, double_value, text, undefined};

/// The counts of a call, the errors of the entries that it left, and perhaps a digest or changes.
#[derive(Default)]
pub(crate) struct Outcome {
    report: Report,
    errors: Vec<Error>,
    digest: Option<Digest>,
    changes: Vec<(Change, PathBuf)>,
}

impl From<Result<Report, TreeError>> for Outcome {
    fn from(result: Result<Report, TreeError>) -> Self {
        match result {
            Ok(report) => Self {
                report,
                ..Self::default()
            },
            Err(error) => Self {
                report: error.report(),
                errors: error.into_errors(),
                ..Self::default()
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
    /// Adds the changes that a mirror told.
    pub(crate) fn with_changes(self, changes: Vec<(Change, PathBuf)>) -> Self {
        Self { changes, ..self }
    }

    /// Makes the value that JavaScript gets: `[files, directories, bytes, errors, digest,
    /// unchanged, deleted, changes]`, each error as [`error_with_path`] makes it, and the digest in
    /// hexadecimal digits. Each change is its name and, after that, its path.
    pub(crate) fn value(&self, env: sys::napi_env) -> sys::napi_value {
        let Report {
            files,
            directories,
            bytes,
            unchanged,
            deleted,
            ..
        } = self.report;
        let [files, directories, bytes, unchanged, deleted] =
            [files, directories, bytes, unchanged, deleted]
                .map(|count| double_value(env, count as f64));
        let errors = self.errors.iter().map(|error| error_with_path(env, error));
        let errors = array(env, &errors.collect::<Vec<_>>());
        let digest = match &self.digest {
            Some(digest) => text(env, &digest.to_string()),
            None => undefined(env),
        };
        let changes = self.changes.iter().flat_map(|(change, path)| {
            [change.name(), &path.to_string_lossy()].map(|part| text(env, part))
        });
        let changes = array(env, &changes.collect::<Vec<_>>());
        array(
            env,
            &[
                files,
                directories,
                bytes,
                errors,
                digest,
                unchanged,
                deleted,
                changes,
            ],
        )
    }
}
