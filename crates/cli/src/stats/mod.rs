//! The arithmetic behind every figure: percentiles of samples, ratios with intervals, and what may
//! be claimed of them.

pub(crate) mod claim;
pub(crate) mod delay;
pub(crate) mod drift;
pub(crate) mod interval;
pub(crate) mod percentiles;
pub(crate) mod welch;
