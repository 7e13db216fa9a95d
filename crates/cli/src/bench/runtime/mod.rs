//! Runs rows: a process per row gets each request, and answers it, in one JSON line.
//!
//! - `native/` this same binary, started as a hidden subcommand
//! - `node.rs` a Node.js, Bun or Deno binary that runs `driver.js` and the scenarios' drivers
//! - `jvm.rs` a JVM that runs the driver in `peers/jvm`
//! - `norad.rs` a program that uses the library of that name
//! - `whole.rs` a process timed as a whole, which is told by its arguments and says nothing
//!
//! All others obey the requests of `protocol.rs`; between requests they block in a read.

pub(crate) mod jvm;
pub(crate) mod native;
pub(crate) mod node;
pub(crate) mod norad;
pub(crate) mod peaks;
pub(crate) mod peer;
pub(crate) mod protocol;
pub(crate) mod strace;
mod whole;

use super::failure::Failure;
use super::interrupt::Interrupt;
use peer::Peer;
use protocol::{Functions, Launch, Style, Threads, Usage};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A program that can run rows.
#[derive(Clone, Debug)]
pub(crate) enum Runtime {
    Native,
    Node {
        engine: Engine,
        binary: PathBuf,
        version: String,
        /// The script that obeys requests.
        script: Arc<str>,
    },
    Jvm(jvm::Jvm),
    Norad(norad::Program),
}

/// The engine that runs the scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Node,
    Bun,
    Deno,
}

impl Runtime {
    /// Returns a short name for tables: `v26.10.0`, `Bun 1.4.4`, `Rust`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Native => "Rust",
            Self::Node { version, .. } => version,
            Self::Jvm(jvm) => &jvm.version,
            Self::Norad(program) => program.name(),
        }
    }

    /// Returns the name for a sentence: `Node v26.10.0`.
    pub(crate) fn full_name(&self) -> String {
        match self {
            Self::Node {
                engine: Engine::Node,
                version,
                ..
            } => format!("Node {version}"),
            other => other.name().to_owned(),
        }
    }

    pub(crate) fn binary(&self) -> Option<&Path> {
        match self {
            Self::Native => None,
            Self::Node { binary, .. } => Some(binary),
            Self::Jvm(jvm) => Some(&jvm.binary),
            Self::Norad(program) => Some(program.binary()),
        }
    }

    pub(crate) fn is_node(&self) -> bool {
        matches!(self, Self::Node { .. })
    }

    /// Starts a process of this runtime; it is ready once [`Peer::hello`] has returned.
    pub(crate) fn start(&self, launch: &Launch, interrupt: &Interrupt) -> Result<Peer, Failure> {
        Peer::start(self.command(launch)?, interrupt)
    }

    fn command(&self, launch: &Launch) -> Result<Command, Failure> {
        Ok(match self {
            Self::Native => native::command(launch)?,
            Self::Node {
                engine,
                binary,
                script,
                ..
            } => node::command(*engine, binary, script, launch)?,
            Self::Jvm(jvm) => jvm.command(launch)?,
            Self::Norad(program) => program.command(launch)?,
        })
    }
}

/// The way in which a row handles many files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) style: Style,
    pub(crate) threads: Threads,
    /// True if the row keeps what it has read.
    pub(crate) keep: bool,
}

impl Way {
    pub(crate) const fn keeping(style: Style, threads: Threads) -> Self {
        Self {
            style,
            threads,
            keep: true,
        }
    }
}

impl From<Style> for Way {
    fn from(style: Style) -> Self {
        Self::keeping(style, Threads::Auto)
    }
}

/// One of the implementations that a scenario compares.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) runtime: Runtime,
    pub(crate) launch: Launch,
    pub(crate) way: Way,
    /// The name in tables and JSON, for example `node:fs A/A`.
    pub(crate) implementation: String,
    /// The implementation, with its runtime where there are several of its kind.
    pub(crate) label: String,
}

impl Row {
    pub(crate) fn native(functions: Functions, name: &str, way: impl Into<Way>) -> Self {
        Self {
            runtime: Runtime::Native,
            launch: Launch::of(functions),
            way: way.into(),
            implementation: name.to_owned(),
            label: name.to_owned(),
        }
    }

    pub(crate) fn start(&self, interrupt: &Interrupt) -> Result<Peer, Failure> {
        self.runtime.start(&self.launch, interrupt)
    }

    /// Starts the row under strace, which records what it flushes.
    pub(crate) fn start_traced(
        &self,
        trace: &strace::Trace,
        interrupt: &Interrupt,
    ) -> Result<Peer, Failure> {
        let mut launch = self.launch.clone();
        launch.warm_up = false;
        Peer::start(trace.of(&self.runtime.command(&launch)?), interrupt)
    }

    /// Runs a whole process that does `work` by `script` or, in Rust, by itself. Returns what it
    /// used, or why it failed.
    pub(crate) fn run_whole(
        &self,
        script: &str,
        work: &impl Serialize,
        interrupt: &Interrupt,
    ) -> Result<Result<Usage, String>, Failure> {
        let command = match &self.runtime {
            Runtime::Native => {
                let mut command = native::command(&self.launch)?;
                command.arg(json(work)?);
                command
            }
            Runtime::Node { engine, binary, .. } => {
                let argument = serde_json::json!({ "launch": self.launch, "work": work });
                node::eval(*engine, binary, &[], script, &argument.to_string())
            }
            Runtime::Jvm(_) | Runtime::Norad(_) => {
                let name = self.runtime.name();
                return Err(Failure::said(format!("{name} has no whole processes")));
            }
        };
        whole::run(command, interrupt)
    }
}

/// Returns a command whose environment cannot skew a row.
fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("NODE_OPTIONS")
        .env_remove("NODE_V8_COVERAGE");
    command
}

fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::said(error.to_string()))
}
