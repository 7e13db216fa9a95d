//! What is to be seen of a run besides its time: exit status, what it printed, and the outputs that the user named.
//!
//! smallfry is blamed only for what never happens without it. A source map with the time in it differs between any two
//! runs; so each thing's values are kept of all runs of both sides, and one that varies without smallfry tells nothing.

mod comparison;
mod outputs;
mod printed;

pub(super) use comparison::{Comparison, Difference, Judgement, Thing};
pub(super) use outputs::Outputs;

use super::process::Run;
use crate::bench::failure::Failure;
use blake3::Hash;
use printed::Printed;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Of one run.
pub(super) struct Seen {
    status: ExitStatus,
    output: Printed,
    errors: Printed,
    entries: BTreeMap<PathBuf, outputs::Entry>,
}

impl Seen {
    pub(super) fn of(run: &Run, outputs: &Outputs) -> Result<Self, Failure> {
        Ok(Self {
            status: run.status,
            output: Printed::read(&run.output)?,
            errors: Printed::read(&run.errors)?,
            entries: outputs.look()?,
        })
    }
}

/// A thing as one run left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    /// What stays the same where only numbers or bytes differ.
    shape: Shape,
    /// Of printed text, without the times in it.
    contents: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    File,
    Executable,
    Directory,
    Link,
    /// A pipe, a socket, a device.
    Special,
    /// Printed text, its numbers left out.
    Text(Hash),
    Status(ExitStatus),
}
