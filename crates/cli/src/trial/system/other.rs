//! Systems other than Unix: only the process itself is ended, and its processor time is unknown.

use super::processor::Processor;
use crate::process::interrupt::Running;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::Result;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs `line` in the shell.
pub(in crate::trial) fn shell(line: &OsStr) -> Command {
    let mut command = Command::new("cmd");
    command.arg("/C").arg(line);
    command
}

pub(in crate::trial) fn is_executable(_metadata: &Metadata) -> bool {
    false
}

/// Every write changes it.
pub(in crate::trial) type Stamp = Option<std::time::SystemTime>;

pub(in crate::trial) fn stamp(metadata: &Metadata) -> Stamp {
    metadata.modified().ok()
}

pub(in crate::trial) struct Child(Mutex<std::process::Child>);

impl Child {
    pub(in crate::trial) fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(Mutex::new(command.spawn()?)))
    }

    /// Waits for the end. It does not hold the lock while it sleeps, so ending the process is never
    /// delayed.
    pub(in crate::trial) fn wait(&self) -> Result<(ExitStatus, Option<Processor>)> {
        loop {
            let status = self.lock().try_wait()?;
            if let Some(status) = status {
                return Ok((status, None));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, std::process::Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running for Child {
    fn end(self: Arc<Self>) {
        // An error means that it has already ended.
        let _ = self.lock().kill();
    }
}
