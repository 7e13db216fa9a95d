//! Time spent on small files, counted by the program itself. Each process that loads smallfry with
//! `SMALLFRY_COUNT` set writes a JSON file to that directory (`bindings/node/lib/counting`, schema
//! "smallfry-count/1").

use super::process::Usage;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

/// The parts of the work on a small file, in order. A function for whole files does three of them.
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

/// Programs that start other programs, by the names of their scripts without extension.
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

/// The directory for counts. Dropping it removes it.
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

    /// Reads the counts of all processes. A file that is still being written counts as a process
    /// that has not ended.
    pub(super) fn read(&self, usage: Usage) -> Result<Counts, Failure> {
        let list = Failure::at("list", self.path());
        let mut names: Vec<_> = std::fs::read_dir(self.path())
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .map_err(list)?
            .into_iter()
            .map(|entry| entry.path())
            .collect();
        // By process ID, which is roughly the order of their starts.
        names.sort_unstable();
        let mut processes = Vec::new();
        for name in names {
            let text = std::fs::read(&name).map_err(Failure::at("read", &name))?;
            processes.push(serde_json::from_slice(&text).unwrap_or_default());
        }
        Ok(Counts { usage, processes })
    }
}

/// The counts of all processes of a run.
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
    /// The number of processes that it started.
    children: u64,
    /// Commands that it started without smallfry, if they are Node.
    children_without: BTreeSet<String>,
    functions: Vec<Function>,
}

impl Process {
    /// The name of its script or, without one, of its program.
    fn name(&self) -> &str {
        let script = self.command.get(1).or(self.command.first());
        let script = script.map_or("?", String::as_str);
        Path::new(script)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(script)
    }

    /// Returns true if it is a package manager that ran something, like `npm run`, and did not just
    /// install.
    fn is_launcher(&self) -> bool {
        let name = self.name();
        let stem = ["js", "cjs", "mjs"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))
            .unwrap_or(name);
        // A project can keep a release of yarn, with the version in its name.
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

/// The form in which a function returns its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
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

/// The function that the program waited for longest, over all processes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Longest {
    pub(super) name: String,
    pub(super) form: Form,
    /// smallfry replaces it.
    pub(super) native: bool,
    pub(super) calls: u64,
    /// Calls of a native function that it left to node:fs.
    pub(super) handed_on: u64,
    pub(super) ns: u64,
    /// Its part of the time in all functions, from 0 to 1.
    pub(super) share: f64,
}

/// One part of the work, over all processes and functions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// Calls that smallfry handled.
    pub(super) native: u64,
    pub(super) bytes: u64,
    /// Time while the calling thread was blocked.
    pub(super) sync_ns: u64,
    /// The same, in functions that smallfry replaces.
    pub(super) native_sync_ns: u64,
    /// Calls that returned later, and the sum of the times until then. Calls in flight at once each
    /// count in full.
    pub(super) async_calls: u64,
    pub(super) async_ns: u64,
    /// The same, in functions that smallfry replaces.
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
    /// The wall time of the counted run.
    pub(super) fn wall_ns(&self) -> u64 {
        self.usage.wall_ns
    }

    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }

    /// The file of the Node that ran the first process.
    pub(super) fn node(&self) -> Option<&Path> {
        let process = self.processes.first()?;
        process.command.first().map(Path::new)
    }

    pub(super) fn threads(&self) -> u64 {
        self.processes.iter().map(|process| process.threads).sum()
    }

    /// The number of processes that were killed or still ran, so that their calls are unknown.
    pub(super) fn unknown(&self) -> usize {
        self.processes
            .iter()
            .filter(|process| !process.ended)
            .count()
    }

    /// The reason why smallfry handled no call in any process, if so.
    pub(super) fn not_native(&self) -> Option<&str> {
        let is_native = self.processes.iter().any(|process| process.native);
        let process = self.processes.first().filter(|_| !is_native)?;
        Some(&process.reason)
    }

    /// Functions that other code had replaced before smallfry was loaded, so that smallfry left
    /// them alone.
    pub(super) fn left_alone(&self) -> BTreeSet<&str> {
        let names = self
            .processes
            .iter()
            .flat_map(|process| &process.left_alone);
        names.map(String::as_str).collect()
    }

    /// The versions of Node that ran.
    pub(super) fn versions(&self) -> BTreeSet<&str> {
        self.processes
            .iter()
            .map(|process| process.node.as_str())
            .collect()
    }

    /// The name of each process's script or program.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.processes.iter().map(Process::name)
    }

    /// Returns true if only launchers loaded smallfry.
    pub(super) fn are_of_launchers_only(&self) -> bool {
        !self.processes.is_empty() && self.processes.iter().all(Process::is_launcher)
    }

    /// Commands that were started without smallfry, if they are Node.
    pub(super) fn children_without(&self) -> BTreeSet<&str> {
        let commands = self
            .processes
            .iter()
            .flat_map(|process| &process.children_without);
        commands.map(String::as_str).collect()
    }

    /// The parts that occur, in the order of the work.
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

    /// The function with the largest share of the time in functions of node:fs.
    pub(super) fn longest(&self) -> Option<Longest> {
        let mut sums: Vec<Longest> = Vec::new();
        let mut all = 0;
        for function in self.processes.iter().flat_map(|process| &process.functions) {
            let Numbers {
                calls,
                nanoseconds,
                handed_on,
                ..
            } = function.counts;
            all += nanoseconds;
            let known = sums
                .iter_mut()
                .find(|sum| sum.name == function.name && sum.form == function.form);
            match known {
                Some(sum) => {
                    sum.calls += calls;
                    sum.handed_on += handed_on;
                    sum.ns += nanoseconds;
                }
                None => sums.push(Longest {
                    name: function.name.clone(),
                    form: function.form,
                    native: function.native,
                    calls,
                    handed_on,
                    ns: nanoseconds,
                    share: 0.0,
                }),
            }
        }
        let longest = sums.into_iter().max_by_key(|sum| sum.ns)?;
        let share = longest.ns as f64 / all.max(1) as f64;
        (longest.ns > 0).then_some(Longest { share, ..longest })
    }

    /// The counts as the processes wrote them.
    pub(super) fn document(&self) -> impl Serialize + '_ {
        &self.processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of processes that ran these scripts and started this many others.
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
