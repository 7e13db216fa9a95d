//! A child process: its input, its lines, its complaint, its end and its usage.

use super::interrupt::{Interrupt, Running, lock};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// A killed process that is stuck in the kernel must not hold up the bench for ever.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The end of a child.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) usage: Usage,
}

/// The times of a whole run. Processor times include untimed work (unlinking, truncating).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) wall_ns: u64,
    pub(crate) user_ns: u64,
    pub(crate) sys_ns: u64,
    /// The highest resident set of the process so far, in KiB.
    pub(crate) peak_kib: u64,
}

/// A process until it is reaped. Afterwards another process may get its process id.
type Process = Mutex<Option<std::process::Child>>;

impl Running for Process {
    fn end(self: Arc<Self>) {
        if let Some(child) = lock(&self).as_mut() {
            // An error means that it has ended already.
            let _ = child.kill();
        }
    }
}

/// A child process. Dropping it ends it.
pub(crate) struct Child {
    pub(crate) program: String,
    pub(crate) id: u32,
    pub(crate) input: Option<ChildStdin>,
    /// The lines that it prints. They are read as they come, so that it is never stuck.
    pub(crate) lines: Receiver<String>,
    errors: Option<ChildStderr>,
    process: Arc<Process>,
    ending: Receiver<End>,
    end: Option<End>,
}

impl Child {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::said(format!("cannot run {program}: {error}")))?;
        let (line, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let read = BufReader::new(output).lines().map_while(Result::ok);
                // Lines that nobody receives any more are dropped.
                read.for_each(|read| drop(line.send(read)));
            });
        }
        let (id, input, errors) = (child.id(), child.stdin.take(), child.stderr.take());
        let process = Arc::new(Mutex::new(Some(child)));
        let (ended, ending) = channel();
        let waiting = Arc::clone(&process);
        std::thread::spawn(move || {
            if let Ok(end) = wait(&waiting, id, started) {
                // It fails once the child's owner is gone.
                let _ = ended.send(end);
            }
        });
        Ok(Self {
            program,
            id,
            input,
            lines,
            errors,
            process,
            ending,
            end: None,
        })
    }

    /// Starts a child that ends when a stop is asked for.
    pub(crate) fn watched(command: &mut Command, interrupt: &Interrupt) -> Result<Self, Failure> {
        let child = Self::start(command)?;
        let running: Arc<dyn Running> = Arc::<Process>::clone(&child.process);
        interrupt.watch(&running);
        // The handler may have gone through the list just before this child was on it.
        interrupt.check()?;
        Ok(child)
    }

    pub(crate) fn kill(&self) {
        Arc::clone(&self.process).end();
    }

    /// Sends SIGTERM, so that the child can put things in order; kills it where there is none.
    pub(crate) fn terminate(&self) {
        #[cfg(unix)]
        if let Some(child) = lock(&self.process).as_ref() {
            // An error means that it has ended already.
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_child(child),
                rustix::process::Signal::TERM,
            );
        }
        #[cfg(not(unix))]
        self.kill();
    }

    /// Waits for the end, `timeout` at most.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Option<End> {
        if self.end.is_none() {
            self.end = self.ending.recv_timeout(timeout).ok();
        }
        self.end
    }

    /// Returns the line on standard error that says most, after the end.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let mut said = Vec::new();
        // A complaint that cannot be read adds nothing.
        let _ = self.errors.take()?.take(64 << 10).read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_error = |line: &&str| line.contains("Error") || line.contains("error");
        let line = lines.clone().find(is_error).or_else(|| lines.next())?;
        Some(line.chars().take(160).collect())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        self.wait(KILL_TIMEOUT);
    }
}

fn wait(process: &Process, id: u32, started: Instant) -> io::Result<End> {
    until_ended(process, id)?;
    let wall_ns = nanoseconds(started.elapsed());
    let mut child = lock(process).take().ok_or(io::ErrorKind::NotFound)?;
    let mut end = reap(&mut child)?;
    end.usage.wall_ns = wall_ns;
    Ok(end)
}

/// Waits until the child has ended, without reaping it: until then no other process gets its id.
///
/// `waitid(WNOWAIT)`: <https://man7.org/linux/man-pages/man2/waitid.2.html>.
#[cfg(unix)]
pub(crate) fn until_ended(_: &Process, id: u32) -> io::Result<()> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let raw = id.try_into().map_err(io::Error::other)?;
    let process = WaitId::Pid(Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidInput)?);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(process.clone(), options))?;
    Ok(())
}

/// Looks again and again, without holding the lock meanwhile.
#[cfg(not(unix))]
pub(crate) fn until_ended(process: &Process, _: u32) -> io::Result<()> {
    while let Some(child) = lock(process).as_mut() {
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Reaps the child, and returns how it ended and what it and its own children used.
pub(crate) fn reap(child: &mut std::process::Child) -> io::Result<End> {
    let ended = child.wait4()?;
    Ok(End {
        status: ended.status,
        usage: Usage {
            wall_ns: 0,
            user_ns: nanoseconds(ended.rusage.utime),
            sys_ns: nanoseconds(ended.rusage.stime),
            peak_kib: ended.rusage.maxrss / 1024,
        },
    })
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the file of this program.
pub(crate) fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::said(format!("cannot find the smallfry binary itself: {error}")))
}
