//! Child processes, and the signals that end them.

pub(crate) mod child;
pub(crate) mod interrupt;
