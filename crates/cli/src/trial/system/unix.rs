//! Unix: each run has a session of its own, so that all of its processes can be ended and none can
//! use the terminal. `wait4` reports the processor time of a process and its waited-for
//! descendants.

#![allow(unsafe_code, reason = "it calls the system")]

use super::processor::Processor;
use crate::process::child::{End, reap, until_ended};
use crate::process::interrupt::{Running, lock};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Runs `line` in the shell.
pub(in crate::trial) fn shell(line: &OsStr) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

pub(in crate::trial) fn is_executable(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

/// Every write and every replacement of the file changes it, whatever times the writer sets.
pub(in crate::trial) type Stamp = (u64, i64, i64);

pub(in crate::trial) fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

/// A process that leads its own session, and so its own process group.
pub(in crate::trial) struct Child {
    /// `None` once it was reaped, since another process may then have its ID.
    leader: Mutex<Option<std::process::Child>>,
    id: u32,
    ended: AtomicBool,
}

impl Child {
    pub(in crate::trial) fn start(command: &mut Command) -> Result<Self> {
        // With only a group of its own, a question on /dev/tty (a password) would stop the command
        // for ever, since a background group may not read there. Without a terminal the question
        // fails. SAFETY: between fork and exec only setsid is called, which is safe there and
        // touches no memory.
        unsafe { command.pre_exec(own_session) };
        let child = command.spawn()?;
        Ok(Self {
            id: child.id(),
            leader: Mutex::new(Some(child)),
            ended: AtomicBool::new(false),
        })
    }

    /// Waits until the leader has ended. The rest of the group goes on, unless it was told to end.
    pub(in crate::trial) fn wait(&self) -> Result<(ExitStatus, Option<Processor>)> {
        // Not reaped yet: until then no other process gets its ID, and the lock is free.
        until_ended(&self.leader, self.id)?;
        let mut known = lock(&self.leader);
        let all_end = self.ended.load(Ordering::SeqCst);
        if all_end {
            signal(self.id, libc::SIGKILL);
        }
        let mut leader = known.take().ok_or(ErrorKind::InvalidInput)?;
        let ended = reap(&mut leader);
        drop(known);
        if all_end {
            until_gone(self.id);
        }
        let End { status, usage } = ended?;
        let processor = Processor {
            user_ns: usage.user_ns,
            sys_ns: usage.sys_ns,
        };
        Ok((status, Some(processor)))
    }

    fn signal(&self, number: libc::c_int) {
        if lock(&self.leader).is_some() {
            signal(self.id, number);
        }
    }
}

/// `setsid`: <https://man7.org/linux/man-pages/man2/setsid.2.html>.
fn own_session() -> Result<()> {
    // SAFETY: a call without arguments, which touches no memory of ours.
    match unsafe { libc::setsid() } {
        -1 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Running for Child {
    fn end(self: Arc<Self>) {
        self.ended.store(true, Ordering::SeqCst);
        self.signal(libc::SIGTERM);
        std::thread::spawn(move || {
            std::thread::sleep(GRACE);
            self.signal(libc::SIGKILL);
        });
    }
}

/// Sends a signal to a group and returns whether the group exists: `kill(-leader)`,
/// <https://man7.org/linux/man-pages/man2/kill.2.html>.
fn signal(leader: u32, number: libc::c_int) -> bool {
    // SAFETY: a call with two numbers, which touches no memory of ours.
    unsafe { libc::kill(-leader.cast_signed(), number) == 0 }
}

/// Waits, up to a limit, until a killed group is gone, so that none of its processes outlives this
/// one.
fn until_gone(leader: u32) {
    let until = Instant::now() + GRACE;
    // Signal 0 only checks.
    while signal(leader, 0) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}
