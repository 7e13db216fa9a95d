//! What is to be seen of a run besides its time: exit status, what it printed, and the outputs that the user named.
//!
//! smallfry is blamed only for what never happens without it. A source map with the time in it differs between any two
//! runs; so each thing's values are kept of all runs of both sides, and one that varies without smallfry tells nothing.

mod comparison;
mod outputs;
mod printed;
mod run;
mod value;

pub(super) use comparison::{Comparison, Difference, Judgement, Thing};
pub(super) use outputs::Outputs;
pub(super) use run::Seen;
