//! What is measured, one file per scenario; `rows.rs`, `runs.rs` and `many.rs` are what several share.

pub(crate) mod build;
pub(crate) mod close;
pub(crate) mod many;
pub(crate) mod package_scope;
pub(crate) mod read_many;
pub(crate) mod rows;
pub(crate) mod runs;
pub(crate) mod scale;
pub(crate) mod sync;
pub(crate) mod sync_many;
pub(crate) mod write_many;
pub(crate) mod write_string;
