//! Rows in programs that use the library norad, one with its feature `rayon` and one without. They
//! are built apart from this command (`crates/cli/peers/norad`) and found beside it.

use super::clean;
use super::protocol::Launch;
use crate::bench::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One of the two programs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    rayon: bool,
    binary: PathBuf,
}

impl Program {
    /// Returns the program, if it was built.
    pub(crate) fn find(rayon: bool) -> Option<Self> {
        let name = if rayon {
            "smallfry-bench-norad-rayon"
        } else {
            "smallfry-bench-norad"
        };
        let this = std::env::current_exe().ok()?;
        let binary = this
            .with_file_name(name)
            .with_extension(std::env::consts::EXE_EXTENSION);
        binary.is_file().then_some(Self { rayon, binary })
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.rayon { "norad, rayon" } else { "norad" }
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(super) fn command(&self, launch: &Launch) -> Result<Command, Failure> {
        let mut command = clean(&self.binary);
        command.arg(super::json(launch)?);
        Ok(command)
    }
}
