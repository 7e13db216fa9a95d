//! The results of a run that are compared: exit status, printed text, and the outputs that the user
//! named.
//!
//! smallfry is blamed only for what never happens without it. A source map with a time in it, for
//! example, differs between any two runs. The values of each thing are therefore kept for all runs
//! of both sides, and a thing that varies without smallfry cannot be compared.

mod comparison;
mod outputs;
mod printed;
mod run;
mod value;

pub(super) use comparison::{Comparison, Difference, Judgement, Thing};
pub(super) use outputs::Outputs;
pub(super) use run::Seen;
