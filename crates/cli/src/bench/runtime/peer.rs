//! The process of one row, seen from the bench.

use super::protocol::{Hello, PeerFailure, Reply};
use crate::failure::Failure;
use crate::process::child::Child;
use crate::process::interrupt::Interrupt;
use derive_more::Display;
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// A runtime that takes longer to say hello does not work.
const HELLO_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum time of a request, or of a whole process, on a disk worth measuring.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// The time between closing a peer's input and ending it.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Dropping it ends the process and waits for it.
pub(crate) struct Peer(Child);

/// The reason why a request was not answered.
#[derive(Clone, Debug, Display)]
pub(crate) enum PeerError {
    /// The row's own functions failed; the process lives on.
    Failed(PeerFailure),
    /// The process is gone, or its answer makes no sense.
    Lost(String),
}

impl Peer {
    pub(crate) fn start(mut command: Command, interrupt: &Interrupt) -> Result<Self, Failure> {
        Ok(Self(Child::watched(&mut command, interrupt)?))
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.0.id
    }

    /// Waits until the process is ready.
    pub(crate) fn hello(&mut self) -> Result<Hello, PeerError> {
        match self.reply(HELLO_TIMEOUT)? {
            Reply::Hello(hello) => Ok(hello),
            other => Err(self.nonsense(&format!("{other:?}"))),
        }
    }

    /// Sends the request of that name and waits for the reply.
    pub(crate) fn ask(&mut self, name: &str, request: &impl Serialize) -> Result<Reply, PeerError> {
        let line = format!("{}\n", json!({ name: request }));
        let input = self.0.input.as_mut();
        if input.is_none_or(|input| input.write_all(line.as_bytes()).is_err()) {
            return Err(self.ended());
        }
        self.reply(ANSWER_TIMEOUT)
    }

    fn reply(&mut self, timeout: Duration) -> Result<Reply, PeerError> {
        match self.0.lines.recv_timeout(timeout) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(Reply::Failure(failure)) => Err(PeerError::Failed(failure)),
                Ok(reply) => Ok(reply),
                Err(_) => Err(self.nonsense(&line)),
            },
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = timeout.as_secs();
                Err(self.lost(&format!("has said nothing for {seconds} s")))
            }
        }
    }

    fn nonsense(&self, line: &str) -> PeerError {
        let start: String = line.chars().take(60).collect();
        self.lost(&format!(
            "does not answer as a row should; it said {start:?}"
        ))
    }

    fn lost(&self, why: &str) -> PeerError {
        self.0.kill();
        PeerError::Lost(format!("{} {why}", self.0.program))
    }

    /// Tells how a process ended that has closed its output, and what it complained of.
    fn ended(&mut self) -> PeerError {
        self.0.input = None;
        let how = match self.0.wait(END_TIMEOUT) {
            Some(end) => end.status.to_string(),
            None => "no exit status".to_owned(),
        };
        let complaint = complaint(&mut self.0);
        self.lost(&format!("ended before it answered ({how}){complaint}"))
    }
}

/// Returns the child's complaint after a colon.
pub(super) fn complaint(child: &mut Child) -> String {
    let complaint = child.complaint().map(|line| format!(": {line}"));
    complaint.unwrap_or_default()
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.input = None;
        self.0.wait(END_TIMEOUT);
    }
}
