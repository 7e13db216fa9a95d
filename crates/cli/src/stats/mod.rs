//! The arithmetic behind every figure: percentiles of samples, Welch's t-test on rates, and a
//! bootstrap that knows that samples of one process resemble each other.

pub(crate) mod bootstrap;
pub(crate) mod claim;
pub(crate) mod delay;
pub(crate) mod drift;
pub(crate) mod percentiles;
pub(crate) mod welch;
