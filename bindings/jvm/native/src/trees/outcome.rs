//! The outcome of a call for a tree, as `dev.smallfry.Watch` reads it.

use super::watched::{Events, long, watched};
use crate::results;
use jni::Env;
use jni::errors::Result;
use jni::objects::{JByteArray, JObject};
use smallfry::Error;
use smallfry::bulk::Control;
use smallfry::tree::{Report, TreeError};

/// Does `work` while `watch` watches it. Returns its outcome.
pub(super) fn outcome<'local>(
    env: &mut Env<'local>,
    watch: &JObject<'_>,
    events: Events,
    work: impl FnOnce(&Control) -> std::result::Result<Report, TreeError> + Send,
) -> Result<JByteArray<'local>> {
    let bytes = match watched(env, watch, events, work)? {
        Ok(report) => encoded(report, &[]),
        Err(error) => encoded(error.report(), error.errors()),
    };
    env.byte_array_from_slice(&bytes)
}

/// Returns the numbers of files, directories, bytes, and unchanged and deleted entries; the number
/// of errors, and the errors.
pub(super) fn encoded(report: Report, errors: &[Error]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for count in [
        report.files,
        report.directories,
        report.bytes,
        report.unchanged,
        report.deleted,
    ] {
        bytes.extend_from_slice(&long(count).to_ne_bytes());
    }
    results::push_number(&mut bytes, errors.len());
    for error in errors {
        results::push_error(&mut bytes, error);
    }
    bytes
}
