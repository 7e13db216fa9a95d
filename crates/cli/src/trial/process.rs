//! One run of the command: nothing to read, what it prints kept aside, processor time of all that it waited for.

use super::subject::{Side, Subject};
use super::system::{self, Child, Processor};
use crate::bench::failure::Failure;
use crate::bench::interrupt::{Interrupt, Running};
use serde::Serialize;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of what a failed command printed, so much is shown.
const TAIL_LINES: usize = 15;
const TAIL_BYTES: u64 = 16 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Usage {
    pub(super) wall_ns: u64,
    /// Of the process and all those that it and theirs waited for; `None` where the system does not tell.
    pub(super) processor: Option<Processor>,
}

pub(super) struct Run {
    pub(super) status: ExitStatus,
    pub(super) usage: Usage,
    /// What it printed. Files, not pipes: a process that outlives the command cannot hold up the end of a run, and ours takes
    /// no processor from the command's while it reads.
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
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"))
}

pub(super) fn unreadable<E: Display>(error: E) -> Failure {
    Failure::said(format!(
        "cannot read back what the command printed: {error}"
    ))
}

/// Starts the command, and what prepares for it.
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

    /// Prepares, then runs one side; with a directory to write counts to, counting.
    pub(super) fn run(&self, side: Side, counts: Option<&Path>) -> Result<Run, Failure> {
        self.run_command(self.subject.command(side, counts)?)
    }

    /// Prepares, then runs the command made of the untouched one by `wrap`.
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
        .stdout(again(&output)?)
        .stderr(again(&errors)?);
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

/// A file without a name, gone when it is closed.
fn scratch() -> Result<File, Failure> {
    tempfile::tempfile().map_err(|error| {
        Failure::said(format!(
            "cannot make a temporary file in {}: {error}",
            std::env::temp_dir().display()
        ))
    })
}

fn again(file: &File) -> Result<Stdio, Failure> {
    Ok(Stdio::from(file.try_clone().map_err(unreadable)?))
}
