//! How a row is run: a process per row, told what to do in one JSON line, answering in one JSON line.
//!
//! `native.rs` is this same binary, started as a hidden subcommand; `node.rs` is a Node.js, Bun or Deno binary running the scripts
//! in `driver/`; `jvm.rs` is a JVM running the driver in `peers/jvm`; `norad.rs` is a program that uses the library of that name. All obey the requests of `protocol.rs`; between requests they block in a read and cost nothing. What is timed as a
//! whole process, `whole.rs`, is told by its arguments and says nothing.

pub(crate) mod jvm;
pub(crate) mod native;
pub(crate) mod node;
pub(crate) mod norad;
pub(crate) mod peaks;
pub(crate) mod peer;
pub(crate) mod protocol;
pub(crate) mod strace;
mod whole;

use peer::Peer;
use protocol::{Discard, Launch, Style, Threads, Usage};
use std::path::PathBuf;
use std::process::Command;

use super::failure::Failure;
use super::interrupt::Interrupt;

/// A program that can run rows.
#[derive(Clone, Debug)]
pub(crate) enum Runtime {
    Native,
    Node {
        engine: Engine,
        binary: PathBuf,
        version: String,
    },
    Jvm(jvm::Jvm),
    Norad(norad::Program),
}

/// Whose binary obeys the scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Node,
    Bun,
    Deno,
}

impl Runtime {
    /// Short, for tables: `v26.10.0`, `Bun 1.4.4`, `Rust`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Native => "Rust",
            Self::Node { version, .. } => version,
            Self::Jvm(jvm) => &jvm.version,
            Self::Norad(program) => program.name(),
        }
    }

    /// In a sentence: `Node v26.10.0`.
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
            Self::Node { engine, binary, .. } => node::command(*engine, binary, launch),
            Self::Jvm(jvm) => jvm.command(launch)?,
            Self::Norad(program) => program.command(launch)?,
        })
    }

    /// A process that does one thing and ends.
    fn whole(&self, launch: &Launch, work: &Discard) -> Result<Command, Failure> {
        match self {
            Self::Native => native::whole_command(launch, work),
            Self::Node { engine, binary, .. } => {
                Ok(node::whole_command(*engine, binary, launch, work))
            }
            Self::Jvm(_) | Self::Norad(_) => Err(Failure::said(format!(
                "{} reads no files alone",
                self.name()
            ))),
        }
    }
}

/// How a row goes about many files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) style: Style,
    pub(crate) threads: Threads,
    /// Or throw away what was read.
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

/// What to start a row with: the runtime, and whose functions it calls.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) runtime: Runtime,
    pub(crate) launch: Launch,
    pub(crate) way: Way,
    /// As the tables and the JSON call it, for example `node:fs again`.
    pub(crate) implementation: String,
    /// The implementation, and its runtime where there are several of its kind.
    pub(crate) label: String,
}

impl Row {
    pub(crate) fn start(&self, interrupt: &Interrupt) -> Result<Peer, Failure> {
        self.runtime.start(&self.launch, interrupt)
    }

    /// The same, and whatever it flushes is written down.
    pub(crate) fn start_traced(
        &self,
        trace: &strace::Trace,
        interrupt: &Interrupt,
    ) -> Result<Peer, Failure> {
        let launch = Launch {
            warm_up: false,
            ..self.launch.clone()
        };
        let command = self.runtime.command(&launch)?;
        Peer::start(trace.of(&command), interrupt)
    }

    /// What a process took from its start to its end, or why it failed.
    pub(crate) fn run_whole(
        &self,
        work: &Discard,
        interrupt: &Interrupt,
    ) -> Result<Result<Usage, String>, Failure> {
        whole::run(self.runtime.whole(&self.launch, work)?, interrupt)
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
