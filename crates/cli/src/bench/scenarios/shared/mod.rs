//! Parts that several scenarios share.

pub(super) mod cache;
pub(super) mod idioms;
pub(super) mod outputs;
pub(super) mod rows;
pub(super) mod trees;

use serde::Serialize;

/// Returns the word for a value that JSON has for it.
pub(super) fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Names files and bytes of each: `300x10kB`.
pub(super) fn shape(files: usize, bytes: usize) -> String {
    for (unit, name) in [(1_000_000, "MB"), (1_000, "kB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{files}x{}{name}", bytes / unit);
        }
    }
    format!("{files}x{bytes}B")
}
