//! Where the time on small files went, as the program itself tells: each process that loads smallfry with `SMALLFRY_COUNT`
//! set leaves a JSON file in the directory it names (`bindings/node/lib/counting`, schema "smallfry-count/1").

use super::process::Usage;
use crate::bench::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

/// The parts of the work on a small file, in its order. A whole-file function does three of them at once.
const PARTS: [&str; 9] = [
    "look up",
    "open",
    "read",
    "write",
    "flush",
    "close",
    "read whole",
    "write whole",
    "make, move, remove",
];

/// Scripts of programs whose work is to start others, by the name without ending.
const LAUNCHERS: [&str; 13] = [
    "npm",
    "npm-cli",
    "npx",
    "npx-cli",
    "yarn",
    "yarnpkg",
    "pnpm",
    "pnpx",
    "corepack",
    "cross-env",
    "cross-env-shell",
    "dotenv",
    "env-cmd",
];

/// Where counts are written to; gone when dropped.
pub(super) struct Directory(TempDir);

impl Directory {
    pub(super) fn make() -> Result<Self, Failure> {
        tempfile::Builder::new()
            .prefix("smallfry-try-")
            .tempdir()
            .map(Self)
            .map_err(Failure::at("make a directory in", &std::env::temp_dir()))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What all processes have written. Those that are being written to just now are taken as not ended.
    pub(super) fn read(&self, usage: Usage) -> Result<Counts, Failure> {
        let list = Failure::at("list", self.path());
        let mut names: Vec<_> = std::fs::read_dir(self.path())
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .map_err(list)?
            .into_iter()
            .map(|entry| entry.path())
            .collect();
        // By process number: in the order they began, mostly.
        names.sort_unstable();
        let mut processes = Vec::new();
        for name in names {
            let text = std::fs::read(&name).map_err(Failure::at("read", &name))?;
            processes.push(serde_json::from_slice(&text).unwrap_or_default());
        }
        Ok(Counts { usage, processes })
    }
}

/// Of all processes of a run.
pub(super) struct Counts {
    usage: Usage,
    processes: Vec<Process>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct Process {
    node: String,
    command: Vec<String>,
    native: bool,
    reason: String,
    left_alone: BTreeSet<String>,
    ended: bool,
    threads: u64,
    /// How many processes it started.
    children: u64,
    /// Commands that it started without smallfry, should they be Node.
    children_without: BTreeSet<String>,
    functions: Vec<Function>,
}

impl Process {
    /// Its script, or what it was started with.
    fn name(&self) -> &str {
        let script = self.command.get(1).or(self.command.first());
        let script = script.map_or("?", String::as_str);
        Path::new(script)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(script)
    }

    /// A package manager that ran something, as `npm run` does, and not one that installs.
    fn is_launcher(&self) -> bool {
        let name = self.name();
        let stem = ["js", "cjs", "mjs"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))
            .unwrap_or(name);
        // Of its own releases that a project keeps, yarn has the version in the name.
        self.children > 0 && (LAUNCHERS.contains(&stem) || stem.starts_with("yarn-"))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    name: String,
    form: Form,
    part: String,
    native: bool,
    #[serde(flatten)]
    counts: Numbers,
}

/// How a function gives its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Sync,
    Callback,
    Promise,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Numbers {
    calls: u64,
    failed: u64,
    nanoseconds: u64,
    bytes: u64,
    /// Calls of a native function that it left to node:fs.
    handed_on: u64,
}

/// One part of the work, over all processes and functions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// Calls that smallfry did.
    pub(super) native: u64,
    pub(super) bytes: u64,
    /// While the calling thread stood still.
    pub(super) sync_ns: u64,
    /// The same, in functions that smallfry does.
    pub(super) native_sync_ns: u64,
    /// Calls that gave their result later, and how long it took to be there; of calls under way together each counts.
    pub(super) async_calls: u64,
    pub(super) async_ns: u64,
    /// The same, in functions that smallfry does.
    pub(super) native_async_ns: u64,
}

impl Part {
    fn add(&mut self, function: &Function) {
        let Numbers {
            calls,
            failed,
            nanoseconds,
            bytes,
            handed_on,
        } = function.counts;
        self.calls += calls;
        self.failed += failed;
        self.bytes += bytes;
        if function.native {
            self.native += calls.saturating_sub(handed_on);
        }
        match function.form {
            Form::Sync => {
                self.sync_ns += nanoseconds;
                self.native_sync_ns += if function.native { nanoseconds } else { 0 };
            }
            Form::Callback | Form::Promise => {
                self.async_calls += calls;
                self.async_ns += nanoseconds;
                self.native_async_ns += if function.native { nanoseconds } else { 0 };
            }
        }
    }
}

impl Counts {
    /// How long the counted run took.
    pub(super) fn wall_ns(&self) -> u64 {
        self.usage.wall_ns
    }

    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }

    pub(super) fn threads(&self) -> u64 {
        self.processes.iter().map(|process| process.threads).sum()
    }

    /// Those that were killed, or still ran: nothing is known of their calls.
    pub(super) fn unknown(&self) -> usize {
        self.processes
            .iter()
            .filter(|process| !process.ended)
            .count()
    }

    /// Why smallfry did nothing in any process, if so.
    pub(super) fn not_native(&self) -> Option<&str> {
        let is_native = self.processes.iter().any(|process| process.native);
        let process = self.processes.first().filter(|_| !is_native)?;
        Some(&process.reason)
    }

    /// Functions that somebody else had changed before smallfry came, and that it left to them.
    pub(super) fn left_alone(&self) -> BTreeSet<&str> {
        let names = self
            .processes
            .iter()
            .flat_map(|process| &process.left_alone);
        names.map(String::as_str).collect()
    }

    /// Node versions that ran.
    pub(super) fn versions(&self) -> BTreeSet<&str> {
        self.processes
            .iter()
            .map(|process| process.node.as_str())
            .collect()
    }

    /// Each process's script, or what it was started with.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.processes.iter().map(Process::name)
    }

    /// Did smallfry reach nothing but what starts the command proper?
    pub(super) fn are_of_launchers_only(&self) -> bool {
        !self.processes.is_empty() && self.processes.iter().all(Process::is_launcher)
    }

    /// Commands that were started without smallfry, should they be Node.
    pub(super) fn children_without(&self) -> BTreeSet<&str> {
        let commands = self
            .processes
            .iter()
            .flat_map(|process| &process.children_without);
        commands.map(String::as_str).collect()
    }

    /// Those that occur, in the order of the work.
    pub(super) fn parts(&self) -> Vec<(&'static str, Part)> {
        let mut parts = PARTS.map(|name| (name, Part::default()));
        for function in self.processes.iter().flat_map(|process| &process.functions) {
            if let Some((_, part)) = parts.iter_mut().find(|(name, _)| *name == function.part) {
                part.add(function);
            }
        }
        parts
            .into_iter()
            .filter(|(_, part)| part.calls > 0)
            .collect()
    }

    /// As the processes wrote it.
    pub(super) fn document(&self) -> impl Serialize + '_ {
        &self.processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of processes that ran these scripts and started so many others.
    fn counts(scripts: &[(&str, u64)]) -> Counts {
        let process = |&(script, children): &(&str, u64)| Process {
            command: vec!["node".to_owned(), script.to_owned()],
            children,
            ..Process::default()
        };
        Counts {
            usage: Usage::default(),
            processes: scripts.iter().map(process).collect(),
        }
    }

    #[test]
    fn package_managers_that_run_something_are_launchers() {
        for script in [
            "/usr/bin/npm",
            "/lib/npm/bin/npm-cli.js",
            "/a/yarn-4.9.1.cjs",
            "pnpm.cjs",
        ] {
            assert!(counts(&[(script, 1)]).are_of_launchers_only(), "{script}");
            // It installs.
            assert!(!counts(&[(script, 0)]).are_of_launchers_only(), "{script}");
        }
        assert!(counts(&[("npm", 1), ("node_modules/.bin/cross-env", 1)]).are_of_launchers_only());
        assert!(!counts(&[("npm", 1), ("node_modules/.bin/vite", 1)]).are_of_launchers_only());
        assert!(!counts(&[("npm-check.js", 1)]).are_of_launchers_only());
        assert!(!counts(&[]).are_of_launchers_only());
    }
}
