//! The parts that differ between systems, with the same names in each file.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

mod processor;

pub(super) use processor::Processor;

#[cfg(not(unix))]
pub(super) use other::{Child, Stamp, is_executable, shell, stamp};
#[cfg(unix)]
pub(super) use unix::{Child, Stamp, is_executable, shell, stamp};
