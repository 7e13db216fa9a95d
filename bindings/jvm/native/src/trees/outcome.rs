//! The outcome of a call for a tree, as `dev.smallfry.TreeOutcome` reads it.

use super::watched::long;
use crate::results;
use smallfry::Error;
use smallfry::tree::{Report, TreeError};

/// Appends the numbers of files, directories and bytes, the number of errors, and the errors.
pub(super) fn push_outcome(bytes: &mut Vec<u8>, outcome: &Result<Report, TreeError>) {
    let (report, errors): (_, &[Error]) = match outcome {
        Ok(report) => (*report, &[]),
        Err(error) => (error.report(), error.errors()),
    };
    for count in [report.files, report.directories, report.bytes] {
        bytes.extend_from_slice(&long(count).to_ne_bytes());
    }
    results::push_number(bytes, errors.len());
    for error in errors {
        results::push_error(bytes, error);
    }
}
