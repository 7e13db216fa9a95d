//! Parts that several scenarios share.

use prelude::*;

#[cfg(unix)]
pub(super) mod archives;
pub(super) mod batch;
pub(super) mod cache;
pub(super) mod font;
pub(super) mod idioms;
pub(super) mod many;
pub(super) mod outputs;
pub(super) mod prelude;
#[cfg(unix)]
pub(super) mod raw_trees;
pub(super) mod rows;
pub(super) mod tree_jobs;
pub(super) mod trees;

/// Returns the word for a value that JSON has for it.
pub(super) fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
