//! One run of the command. It reads from an empty input, and its output goes to temporary files.

use super::subject::{Side, Subject};
use super::system::{self, Child, Processor};
use crate::failure::Failure;
use crate::process::interrupt::{Interrupt, Running};
use serde::Serialize;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limits of the output of a failed command that is shown.
const MAX_TAIL_LINES: usize = 15;
const MAX_TAIL_BYTES: u64 = 16 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Usage {
    pub(super) wall_ns: u64,
    /// The usage of the process and its waited-for descendants. `None` where the system does not
    /// tell.
    pub(super) processor: Option<Processor>,
}

pub(super) struct Run {
    pub(super) status: ExitStatus,
    pub(super) usage: Usage,
    /// The printed text. Files and not pipes: a process that outlives the command cannot delay the
    /// end of a run, and reading takes no processor time from the command.
    pub(super) output: File,
    pub(super) errors: File,
}

impl Run {
    /// The last lines of both.
    pub(super) fn tail(&self) -> Result<String, Failure> {
        let mut parts = Vec::new();
        for file in [&self.output, &self.errors] {
            let text = tail_of(file).map_err(unreadable)?;
            if !text.trim().is_empty() {
                parts.push(text);
            }
        }
        Ok(parts.join("\n"))
    }
}

fn tail_of(mut file: &File) -> std::io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    Ok(lines[lines.len().saturating_sub(MAX_TAIL_LINES)..].join("\n"))
}

pub(super) fn unreadable<E: Display>(error: E) -> Failure {
    Failure::said(format!(
        "cannot read back what the command printed: {error}"
    ))
}

/// Starts the command, and the preparation before it.
pub(super) struct Runner<'a> {
    subject: &'a Subject,
    prepare: Option<&'a str>,
    interrupt: &'a Interrupt,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        prepare: Option<&'a str>,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            subject,
            prepare,
            interrupt,
        }
    }

    /// Prepares and runs one side. `counts` is the directory for counts, if the run is to be
    /// counted.
    pub(super) fn run(&self, side: Side, counts: Option<&Path>) -> Result<Run, Failure> {
        self.run_command(self.subject.command(side, counts)?)
    }

    /// Prepares and runs the command that `wrap` makes of the side without smallfry.
    pub(super) fn run_wrapped(
        &self,
        wrap: impl FnOnce(&Command) -> Command,
    ) -> Result<Run, Failure> {
        self.run_command(wrap(&self.subject.command(Side::Without, None)?))
    }

    fn run_command(&self, command: Command) -> Result<Run, Failure> {
        if let Some(line) = self.prepare {
            let run = run(system::shell(line.as_ref()), self.interrupt)?;
            if !run.status.success() {
                let tail = run.tail()?;
                let said = if tail.is_empty() {
                    String::new()
                } else {
                    format!("\n{tail}")
                };
                return Err(Failure::said(format!(
                    "the command of --prepare failed ({}): {line}{said}",
                    run.status
                )));
            }
        }
        run(command, self.interrupt)
    }
}

fn run(mut command: Command, interrupt: &Interrupt) -> Result<Run, Failure> {
    interrupt.check()?;
    let output = scratch()?;
    let errors = scratch()?;
    command
        .stdin(Stdio::null())
        .stdout(duplicate(&output)?)
        .stderr(duplicate(&errors)?);
    let program = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let child = Child::start(&mut command)
        .map_err(|error| Failure::said(format!("cannot run {program}: {error}")))?;
    let child = Arc::new(child);
    let running: Arc<dyn Running> = Arc::<Child>::clone(&child);
    interrupt.watch(&running);
    if interrupt.check().is_err() {
        running.end();
    }
    let ended = child
        .wait()
        .map_err(|error| Failure::said(format!("cannot wait for {program}: {error}")))?;
    let wall = started.elapsed();
    interrupt.check()?;
    let (status, processor) = ended;
    Ok(Run {
        status,
        usage: Usage {
            wall_ns: nanoseconds(wall),
            processor,
        },
        output,
        errors,
    })
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Opens a file without a name, which is removed when it is closed.
fn scratch() -> Result<File, Failure> {
    tempfile::tempfile().map_err(|error| {
        Failure::said(format!(
            "cannot make a temporary file in {}: {error}",
            std::env::temp_dir().display()
        ))
    })
}

fn duplicate(file: &File) -> Result<Stdio, Failure> {
    Ok(Stdio::from(file.try_clone().map_err(unreadable)?))
}
