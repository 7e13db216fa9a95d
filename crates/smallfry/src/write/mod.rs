//! Writing and copying one file: the options, and the one place that opens and writes.

pub(crate) mod copy;
pub(crate) mod one;
mod options;

pub use options::{Durability, Outcome, WriteOptions};
