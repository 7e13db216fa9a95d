//! `smallfry slow`: shows a directory through a simulated disk while the command runs.
//!
//! No mount stays behind. The command unmounts on Ctrl-C and termination, when its parent ends, and
//! notices when another program has unmounted. If the command is killed, a guard process unmounts.

mod arguments;
mod crash;
mod list;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub(crate) use arguments::Arguments;
pub(crate) use platform::apart;

use crate::signals;
use smallfry_slowfs::{Mount, Options, Unmounted};
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The hidden subcommand of the guard.
pub(crate) const GUARD: &str = "__slow-guard";

/// The interval of checks whether another program has unmounted.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the command, and reports an error on one line.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let outcome = if arguments.list {
        list::print().map_err(Into::into)
    } else {
        serve(arguments)
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("smallfry slow: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the guard. Its standard input ends when the process at the other end has ended.
pub(crate) fn guard(process: u32) -> ExitCode {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    loop {
        match smallfry_slowfs::clean_up(process) {
            Ok(true) => return ExitCode::SUCCESS,
            // Another mount covers it.
            Ok(false) => std::thread::sleep(LOOK),
            Err(_) => return ExitCode::FAILURE,
        }
    }
}

fn serve(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let options = arguments.options()?;
    let directory = arguments.directory()?;
    let crashes = arguments.crashes()?;
    let stop = listen(arguments.parent)?;
    platform::raise_descriptor_limit();
    let mut guard = Guard::start()?;
    let mut mount = Mount::new(directory, arguments.at.as_deref(), &options)?;
    let unmounts = if crashes.is_some() {
        "crashes"
    } else {
        "unmounts"
    };
    say_mounted(&mount, directory, &options.to_string(), unmounts);
    let end = wait(&mount, &stop);
    say_unmounted(unmount(&mut mount)?);
    if let (Some(crashes), Some(log), false) = (crashes, mount.log(), end == End::Orphaned) {
        let outcome = crashes.crash(&log);
        say(&outcome.told);
        if let Some(dir) = outcome.restore()? {
            let mut left = Mount::new(
                dir.path(),
                Some(mount.path()),
                &Options::new(options.profile),
            )?;
            say_mounted(&left, mount.path(), "what the crash left", "unmounts");
            wait(&left, &stop);
            say_unmounted(unmount(&mut left)?);
        }
    }
    guard.end();
    Ok(())
}

/// Unmounts. A mount that another one covers can be unmounted only after that one, so this waits.
fn unmount(mount: &mut Mount) -> io::Result<Unmounted> {
    let mut outcome = mount.unmount()?;
    if outcome == Unmounted::Covered {
        say("another mount covers this one: it stays until that one is unmounted");
    }
    while outcome == Unmounted::Covered {
        std::thread::sleep(LOOK);
        outcome = mount.unmount()?;
    }
    Ok(outcome)
}

/// Returns a channel that receives the reason to end. `parent` is the process that started this
/// one, if it was given.
fn listen(parent: Option<u32>) -> Result<Receiver<End>, Box<dyn Error>> {
    let (stop, stopped) = channel();
    let orphaned = stop.clone();
    // An error means that the end has already begun.
    signals::listen(move |_| {
        let _ = stop.send(End::Asked);
    })
    .map_err(|error| format!("cannot listen for signals: {error}"))?;
    platform::when_orphaned(parent, move || {
        let _ = orphaned.send(End::Orphaned);
    })?;
    Ok(stopped)
}

/// The reason to end.
#[derive(Clone, Copy, Eq, PartialEq)]
enum End {
    /// The user asked for it, or another program has unmounted.
    Asked,
    /// The parent process has ended.
    Orphaned,
}

fn wait(mount: &Mount, stop: &Receiver<End>) -> End {
    while mount.is_mounted() {
        match stop.recv_timeout(LOOK) {
            Ok(end) => return end,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return End::Orphaned,
        }
    }
    End::Asked
}

/// Prints one line that begins with `mounted`. Scripts wait for it.
fn say_mounted(mount: &Mount, directory: &Path, what: &str, unmounts: &str) {
    let place = mount.path().display();
    let shown = if mount.path() == directory {
        String::new()
    } else {
        format!(", showing {}", directory.display())
    };
    say(&format!(
        "mounted at {place}{shown}: {what}. Ctrl-C or `umount {place}` {unmounts} it."
    ));
}

fn say_unmounted(how: Unmounted) {
    say(match how {
        Unmounted::Covered => return,
        Unmounted::Clean => "unmounted",
        Unmounted::Busy => "unmounted while files were open in it: they fail from now on",
        Unmounted::Already => "already unmounted by another program",
    });
}

fn say(line: &str) {
    let mut output = io::stdout().lock();
    // A closed output is no reason to stop serving.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

/// A process that unmounts if this one is killed.
struct Guard(Child);

impl Guard {
    fn start() -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(GUARD)
            .arg(std::process::id().to_string())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        apart(&mut command);
        let child = command
            .spawn()
            .map_err(|error| format!("cannot start the guard process: {error}"))?;
        Ok(Self(child))
    }

    fn end(&mut self) {
        drop(self.0.stdin.take());
        // It finds nothing to unmount.
        let _ = self.0.wait();
    }
}
