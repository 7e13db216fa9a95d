//! What is measured, one file per scenario; `runs.rs` is what several share.

pub(crate) mod build;
pub(crate) mod read_many;
pub(crate) mod runs;
pub(crate) mod write_string;
