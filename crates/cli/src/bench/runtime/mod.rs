//! Runs rows: the process of a row gets each request, and answers it, in one JSON line.
//!
//! - `native/` this same binary, started as a hidden subcommand
//! - `node.rs` a Node.js, Bun or Deno binary that runs `driver.js` and the scenarios' drivers
//! - `jvm.rs` a JVM that runs the scenarios' drivers, which `peers/jvm` builds
//! - `norad.rs` a program that uses the library of that name
//!
//! All obey the requests of `protocol.rs`; between requests they block in a read. A process that is
//! timed as a whole is told by its arguments instead, and says nothing.

pub(crate) mod jvm;
pub(crate) mod native;
pub(crate) mod node;
pub(crate) mod norad;
pub(crate) mod peaks;
pub(crate) mod peer;
pub(crate) mod protocol;
pub(crate) mod strace;

use crate::failure::{Attempt, Failure};
use crate::process::child::{Child, this_program};
use crate::process::interrupt::Interrupt;
use peer::{ANSWER_TIMEOUT, Peer, PeerError, complaint};
use protocol::{Functions, Launch, Style, Threads, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A program that can run rows. Clones share the arguments, which may hold a long script.
#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    pub(crate) kind: Kind,
    name: String,
    /// `None` for this program itself.
    pub(crate) binary: Option<PathBuf>,
    /// The arguments before the last one, which tells the program what to do.
    arguments: Arc<[OsString]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Native,
    Node,
    Bun,
    Deno,
    Jvm,
    Norad,
    /// A command of the system's or of others.
    Command,
}

impl Runtime {
    /// Returns this program itself.
    pub(crate) fn native() -> Self {
        Self {
            kind: Kind::Native,
            name: "Rust".to_owned(),
            binary: None,
            arguments: [native::SUBCOMMAND.into()].into(),
        }
    }

    fn new(kind: Kind, binary: PathBuf, arguments: impl Into<Arc<[OsString]>>) -> Self {
        Self {
            kind,
            name: String::new(),
            binary: Some(binary),
            arguments: arguments.into(),
        }
    }

    /// Returns a short name for tables: `v26.10.0`, `Bun 1.4.4`, `Rust`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name for a sentence: `Node v26.10.0`.
    pub(crate) fn full_name(&self) -> String {
        let prefix = if self.kind == Kind::Node { "Node " } else { "" };
        format!("{prefix}{}", self.name)
    }

    pub(crate) fn is_node(&self) -> bool {
        matches!(self.kind, Kind::Node | Kind::Bun | Kind::Deno)
    }

    /// Starts a process of this runtime, under strace if there is a trace; it is ready once
    /// [`Peer::hello`] has returned.
    pub(crate) fn start(
        &self,
        launch: &Launch,
        trace: Option<&strace::Trace>,
        interrupt: &Interrupt,
    ) -> Result<Peer, Failure> {
        let command = self.command(launch)?;
        let traced = trace.map(|trace| trace.of(&command));
        Peer::start(traced.unwrap_or(command), interrupt)
    }

    /// Starts a process once, and takes its version for the name.
    fn greet(&mut self, functions: Functions, interrupt: &Interrupt) -> Attempt<(), PeerError> {
        let hello = self.start(&Launch::of(functions), None, interrupt)?.hello();
        interrupt.check()?;
        Ok(hello.map(|hello| self.name = hello.version))
    }

    fn command(&self, launch: &Launch) -> Result<Command, Failure> {
        let mut command = self.program()?;
        if launch.functions == Functions::NodeInternal {
            command.args(["--expose-internals", "--no-warnings"]);
        }
        command
            .args(&*self.arguments)
            .arg(json!(launch).to_string());
        Ok(command)
    }

    /// Returns a command without arguments, whose environment cannot skew a row.
    fn program(&self) -> Result<Command, Failure> {
        let binary = self.binary.clone().map_or_else(this_program, Ok)?;
        let mut command = Command::new(binary);
        for name in ["JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "NODE_V8_COVERAGE"] {
            command.env_remove(name);
        }
        Ok(command)
    }
}

/// The way in which a row handles many files.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
    /// The name in tables and JSON. At its end stands `A/A` if the row is another once more.
    pub(crate) implementation: String,
    /// The implementation, with its runtime where there are several of its kind.
    pub(crate) label: String,
}

/// The end of the names of rows that are another once more.
const ITSELF: &str = " A/A";

impl Row {
    /// Returns the row once more. What differs between the two is noise.
    pub(crate) fn once_more(&self) -> Self {
        let mut itself = self.clone();
        itself.implementation = Self::name_once_more(&self.implementation);
        itself.label = Self::name_once_more(&self.label);
        itself
    }

    pub(crate) fn name_once_more(name: &str) -> String {
        format!("{name}{ITSELF}")
    }

    /// Returns the name of the row that this one is once more.
    pub(crate) fn original(&self) -> Option<&str> {
        self.implementation.strip_suffix(ITSELF)
    }

    /// Returns the row that this one is once more, or itself.
    pub(crate) fn as_original(&self) -> Self {
        let mut row = self.clone();
        if let Some(name) = self.original() {
            name.clone_into(&mut row.implementation);
        }
        row
    }

    /// Returns true if this row is `other` once more.
    pub(crate) fn is_once_more(&self, other: &Self) -> bool {
        self.original() == Some(&other.implementation)
            && self.runtime.name() == other.runtime.name()
    }

    pub(crate) fn native(functions: Functions, name: &str, way: impl Into<Way>) -> Self {
        Self {
            runtime: Runtime::native(),
            launch: Launch::of(functions),
            way: way.into(),
            implementation: name.to_owned(),
            label: name.to_owned(),
        }
    }

    /// Returns the row of a whole command; `None` for this program.
    pub(crate) fn command(name: &str, binary: Option<PathBuf>) -> Self {
        let functions = match binary {
            None => Functions::Smallfry,
            Some(_) => Functions::Raw,
        };
        let mut row = Self::native(functions, name, Style::Sync);
        row.runtime.kind = Kind::Command;
        "the command line".clone_into(&mut row.runtime.name);
        row.runtime.binary = binary;
        row
    }

    pub(crate) fn start(&self, interrupt: &Interrupt) -> Result<Peer, Failure> {
        self.runtime.start(&self.launch, None, interrupt)
    }

    /// Runs a whole process that does `work` by `script` or, in Rust, by itself. Returns what it
    /// used, as `time` does, or why it failed.
    pub(crate) fn run_whole(
        &self,
        script: &str,
        work: &impl Serialize,
        interrupt: &Interrupt,
    ) -> Attempt<Usage> {
        let mut runtime = self.runtime.clone();
        if runtime.is_node() {
            runtime.arguments = script_arguments(runtime.kind, script);
        }
        let mut command = runtime.command(&self.launch)?;
        command.arg(json!(work).to_string());
        run_to_end(command, interrupt)
    }

    /// Runs the row's program with these arguments alone. Returns what it used, or why it failed.
    pub(crate) fn run_with(&self, arguments: &[String], interrupt: &Interrupt) -> Attempt<Usage> {
        let mut command = self.runtime.program()?;
        command.args(arguments);
        run_to_end(command, interrupt)
    }
}

fn run_to_end(mut command: Command, interrupt: &Interrupt) -> Attempt<Usage> {
    let mut child = Child::watched(&mut command, interrupt)?;
    child.input = None;
    let end = child.wait(ANSWER_TIMEOUT);
    interrupt.check()?;
    let program = &child.program;
    Ok(match end {
        None => {
            let seconds = ANSWER_TIMEOUT.as_secs();
            Err(format!("{program} has not ended for {seconds} s"))
        }
        Some(end) if end.status.success() => Ok(end.usage),
        Some(end) => {
            let failed = format!("{program} failed ({})", end.status);
            Err(failed + &complaint(&mut child))
        }
    })
}

/// Returns the arguments with which a program of this kind runs a script.
fn script_arguments(kind: Kind, script: &str) -> Arc<[OsString]> {
    let arguments: &[&str] = match kind {
        Kind::Bun => &["--eval", script, "--"],
        Kind::Deno => &["eval", "--ext=cjs", script],
        _ => &["--input-type=commonjs", "--eval", script, "--"],
    };
    arguments.iter().map(Into::into).collect()
}

/// Returns a file or directory of the source tree, if it is there: of the tree that this binary was
/// built in, else of the one that it was built from.
fn in_source_tree(path: &str) -> Option<PathBuf> {
    let built = std::env::current_exe().ok();
    let built = built.and_then(|binary| Some(binary.parent()?.join("../..")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut roots = built.into_iter().chain([source]);
    roots.find_map(|root| root.join(path).canonicalize().ok())
}
