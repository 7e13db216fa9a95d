//! What is measured, one file per scenario.

pub(crate) mod build;
pub(crate) mod write_string;
