//! How a row is run: a process per row, told what to do in one JSON line, answering in one JSON line.
//!
//! `native.rs` is this same binary, started as a hidden subcommand; `node.rs` is a Node.js binary running the scripts
//! in `driver/`. Both obey the requests of `protocol.rs`; between requests they block in a read and cost nothing.

pub(crate) mod native;
pub(crate) mod node;
pub(crate) mod peer;
pub(crate) mod protocol;

use peer::Peer;
use protocol::Launch;
use std::path::PathBuf;
use std::process::Command;

use super::failure::Failure;
use super::interrupt::Interrupt;

/// A program that can run rows.
#[derive(Clone, Debug)]
pub(crate) enum Runtime {
    Native,
    Node { binary: PathBuf, version: String },
}

impl Runtime {
    /// Short, for tables: `v26.10.0`, `Rust`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Native => "Rust",
            Self::Node { version, .. } => version,
        }
    }

    pub(crate) fn is_node(&self) -> bool {
        matches!(self, Self::Node { .. })
    }

    /// Starts a process of this runtime; it is ready once [`Peer::hello`] has returned.
    pub(crate) fn start(&self, launch: &Launch, interrupt: &Interrupt) -> Result<Peer, Failure> {
        let command = match self {
            Self::Native => native::command(launch)?,
            Self::Node { binary, .. } => node::command(binary, launch),
        };
        Peer::start(command, interrupt)
    }
}

/// What to start a row with: the runtime, and whose functions it calls.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) runtime: Runtime,
    pub(crate) launch: Launch,
    /// As the tables and the JSON call it, for example `node:fs again`.
    pub(crate) implementation: String,
    /// The implementation, and its runtime where there are several of its kind.
    pub(crate) label: String,
}

impl Row {
    pub(crate) fn start(&self, interrupt: &Interrupt) -> Result<Peer, Failure> {
        self.runtime.start(&self.launch, interrupt)
    }
}

/// A command whose environment cannot skew a row.
fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("NODE_OPTIONS")
        .env_remove("NODE_V8_COVERAGE");
    command
}
