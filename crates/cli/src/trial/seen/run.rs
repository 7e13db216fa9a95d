//! The results of one run.

use super::outputs::{Entry, Outputs};
use super::printed::Printed;
use crate::failure::Failure;
use crate::trial::process::Run;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The results of one run.
pub(in crate::trial) struct Seen {
    pub(super) status: ExitStatus,
    pub(super) output: Printed,
    pub(super) errors: Printed,
    pub(super) entries: BTreeMap<PathBuf, Entry>,
}

impl Seen {
    pub(in crate::trial) fn of(run: &Run, outputs: &Outputs) -> Result<Self, Failure> {
        Ok(Self {
            status: run.status,
            output: Printed::read(&run.output)?,
            errors: Printed::read(&run.errors)?,
            entries: outputs.look()?,
        })
    }
}
