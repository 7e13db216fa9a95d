//! The summary of a command, as text or JSON.

use super::names::printable;
use serde_json::{Map, Value, json};
use smallfry::Error;
use smallfry::tree::{Report, TreeError};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The counts and errors of all paths of a command.
pub(super) struct Total {
    began: Instant,
    files: u64,
    directories: u64,
    bytes: u64,
    unchanged: u64,
    deleted: u64,
    errors: Vec<String>,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            files: 0,
            directories: 0,
            bytes: 0,
            unchanged: 0,
            deleted: 0,
            errors: Vec::new(),
        }
    }
}

impl Total {
    pub(super) fn add(&mut self, result: Result<Report, TreeError>) {
        self.add_with(result, ToString::to_string);
    }

    /// Adds the result of an archive that is a stream. Its errors have an empty path, for which
    /// they say `stream`.
    pub(super) fn add_stream(&mut self, stream: &str, result: Result<Report, TreeError>) {
        self.add_with(result, |error| {
            if error.path() == Some(Path::new("")) {
                format!("{} {stream}: {}", error.operation(), error.io_error())
            } else {
                error.to_string()
            }
        });
    }

    fn add_with(&mut self, result: Result<Report, TreeError>, text: impl Fn(&Error) -> String) {
        let report = match result {
            Ok(report) => report,
            Err(error) => {
                let errors = error.errors().iter().filter(|it| !it.is_cancelled());
                self.errors.extend(errors.map(text));
                error.report()
            }
        };
        self.files += report.files;
        self.directories += report.directories;
        self.bytes += report.bytes;
        self.unchanged += report.unchanged;
        self.deleted += report.deleted;
    }

    /// Returns the number of entries that a mirror has found to be the same.
    pub(super) fn unchanged(&self) -> u64 {
        self.unchanged
    }

    /// Returns the number of entries that a mirror has deleted.
    pub(super) fn deleted(&self) -> u64 {
        self.deleted
    }

    /// Counts a file.
    pub(super) fn add_file(&mut self) {
        self.files += 1;
    }

    /// Sets the number of bytes of all paths.
    pub(super) fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Tells how much was done, if there were errors.
    pub(super) fn rest(&self, done: &str) -> Option<String> {
        let Self {
            files, directories, ..
        } = self;
        let text = || format!("{files} files and {directories} directories were {done}");
        (!self.errors.is_empty() && files + directories > 0).then(text)
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.errors.push(reason);
    }
}

/// The end of a command.
pub(super) struct Summary {
    pub(super) name: &'static str,
    /// The verb for the files: copied, changed, removed or hashed.
    pub(super) done: &'static str,
    pub(super) total: Total,
    /// The exit code of the signal that has stopped it.
    pub(super) stopped: Option<u8>,
    /// Further members of the JSON object, or others in their place.
    pub(super) members: Map<String, Value>,
}

impl Summary {
    /// Prints errors, and with `is_json` all of it. Returns the exit code.
    pub(super) fn print(self, is_json: bool) -> ExitCode {
        let Total {
            began,
            files,
            directories,
            bytes,
            errors,
            ..
        } = &self.total;
        if is_json {
            let mut object = json!({
                "schema": "smallfry-tree/1",
                "files": files,
                "directories": directories,
                "bytes": bytes,
                "seconds": began.elapsed().as_secs_f64(),
                "stopped": self.stopped.is_some(),
                "errors": errors,
            });
            if let Value::Object(members) = &mut object {
                members.extend(self.members);
            }
            if let Err(error) = writeln!(io::stdout(), "{object}") {
                eprintln!("{}: write standard output: {error}", self.name);
                return ExitCode::FAILURE;
            }
        } else {
            for error in errors {
                eprintln!("{}: {}", self.name, printable(error));
            }
        }
        if let Some(code) = self.stopped {
            let (name, done) = (self.name, self.done);
            eprintln!("{name}: stopped; {files} files and {directories} directories were {done}");
            return ExitCode::from(code);
        }
        if errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Refuses a command line.
pub(super) fn refuse(name: &str, reason: &str) -> ExitCode {
    eprintln!("{name}: {}", printable(reason));
    ExitCode::FAILURE
}
