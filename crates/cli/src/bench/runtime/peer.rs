//! The process of one row, seen from the bench.

use super::protocol::{Hello, PeerFailure, Reply};
use crate::bench::failure::Failure;
use crate::bench::interrupt::{Interrupt, Registered};
use serde::Serialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A runtime that takes longer to say hello does not work.
const HELLO: Duration = Duration::from_secs(30);
/// The maximum time of a request on a disk worth measuring.
const ANSWER: Duration = Duration::from_secs(300);
/// The time between closing a peer's input and ending it.
const GRACE: Duration = Duration::from_secs(2);

/// Dropping it ends the process and waits for it.
pub(crate) struct Peer {
    program: String,
    child: Registered,
    input: Option<ChildStdin>,
    errors: Option<ChildStderr>,
    replies: Receiver<std::io::Result<String>>,
}

/// The reason why a request was not answered.
#[derive(Clone, Debug)]
pub(crate) enum PeerError {
    /// The row's own functions failed; the process lives on.
    Failed(PeerFailure),
    /// The process is gone, or its answer makes no sense.
    Lost(String),
}

impl std::fmt::Display for PeerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(failure) => write!(f, "{failure}"),
            Self::Lost(message) => f.write_str(message),
        }
    }
}

impl std::fmt::Display for PeerFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {}", self.operation)?;
        if let Some(path) = &self.path {
            write!(f, " {path}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl PeerFailure {
    /// Returns true if the directory is unfit for every row. Then the run stops; any other error is
    /// the row's own.
    pub(crate) fn is_the_directory(&self) -> bool {
        matches!(
            self.code.as_deref(),
            Some("ENOSPC" | "EDQUOT" | "EROFS" | "EIO" | "ENODEV" | "ESTALE")
        )
    }
}

impl Peer {
    pub(crate) fn start(mut command: Command, interrupt: &Interrupt) -> Result<Self, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Failure::said(format!("cannot run {program}: {error}")))?;
        let input = child.stdin.take();
        let errors = child.stderr.take();
        let output = child.stdout.take();
        let child = interrupt.register(child)?;
        let (sender, replies) = channel();
        if let Some(output) = output {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines() {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self {
            program,
            child,
            input,
            errors,
            replies,
        })
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process is ready.
    pub(crate) fn hello(&mut self) -> Result<Hello, PeerError> {
        match self.reply(HELLO)? {
            Reply::Hello(hello) => Ok(hello),
            other => Err(self.nonsense(&format!("{other:?}"))),
        }
    }

    /// Sends the request of that name and waits for the reply.
    pub(crate) fn ask(&mut self, name: &str, request: &impl Serialize) -> Result<Reply, PeerError> {
        let line = format!("{}\n", json!({ name: request }));
        let sent = self
            .input
            .as_mut()
            .map(|input| input.write_all(line.as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended());
        }
        self.reply(ANSWER)
    }

    fn reply(&mut self, patience: Duration) -> Result<Reply, PeerError> {
        match self.replies.recv_timeout(patience) {
            Ok(Ok(line)) => match serde_json::from_str(&line) {
                Ok(Reply::Failure(failure)) => Err(PeerError::Failed(failure)),
                Ok(reply) => Ok(reply),
                Err(_) => Err(self.nonsense(&line)),
            },
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill();
                Err(PeerError::Lost(format!(
                    "{} has said nothing for {} s",
                    self.program,
                    patience.as_secs()
                )))
            }
        }
    }

    fn nonsense(&mut self, line: &str) -> PeerError {
        self.child.kill();
        let start: String = line.chars().take(60).collect();
        PeerError::Lost(format!(
            "{} does not answer as a row should; it said {start:?}",
            self.program
        ))
    }

    /// Tells how a process ended that has closed its output, and what it complained of.
    fn ended(&mut self) -> PeerError {
        self.input = None;
        let how = match self.child.wait(GRACE) {
            Some(end) => end.status.to_string(),
            None => "no exit status".to_owned(),
        };
        let mut said = Vec::new();
        if let Some(errors) = self.errors.take() {
            // A complaint that cannot be read adds nothing.
            let _ = errors.take(64 << 10).read_to_end(&mut said);
        }
        let complaint = complaint(&String::from_utf8_lossy(&said));
        PeerError::Lost(format!(
            "{} ended before it answered ({how}){complaint}",
            self.program
        ))
    }
}

/// Returns the line that says most, after a colon.
pub(super) fn complaint(said: &str) -> String {
    said.lines()
        .map(str::trim)
        .find(|line| line.contains("Error") || line.contains("error"))
        .or_else(|| said.lines().map(str::trim).find(|line| !line.is_empty()))
        .map(|line| format!(": {}", line.chars().take(160).collect::<String>()))
        .unwrap_or_default()
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        self.child.end(Instant::now() + GRACE);
    }
}
