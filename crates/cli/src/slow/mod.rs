//! `smallfry slow`: a directory behind a simulated disk, for as long as the command runs.
//!
//! However it ends, no mount stays: it unmounts on Ctrl-C and termination, when its parent dies, and when somebody else
//! has unmounted it; and should it be killed outright, a guard (a process that only waits for that) unmounts in its place.

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

use smallfry_slowfs::{Mount, Options, Unmounted};
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The hidden subcommand of the guard.
pub(crate) const GUARD: &str = "__slow-guard";

/// How often to look whether somebody else has unmounted.
const LOOK: Duration = Duration::from_millis(50);

/// Runs it and says on one line why it could not, if so.
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

/// The guard: when its standard input ends, the process that held the other end has ended.
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

/// Once that is possible: what another mount covers cannot be reached until that is gone.
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

/// Something comes once there is a reason to end. `parent` is the process that started this one, if it said so.
fn listen(parent: Option<u32>) -> Result<Receiver<End>, Box<dyn Error>> {
    let (stop, stopped) = channel();
    let orphaned = stop.clone();
    // An error means that the end has begun already.
    ctrlc::set_handler(move || {
        let _ = stop.send(End::Asked);
    })
    .map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
    platform::when_orphaned(parent, move || {
        let _ = orphaned.send(End::Orphaned);
    })?;
    Ok(stopped)
}

/// Why it ends.
#[derive(Clone, Copy, Eq, PartialEq)]
enum End {
    /// Somebody wants it to, or has unmounted it.
    Asked,
    /// Who started it is gone.
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

/// One line on standard output, which scripts wait for: it begins with `mounted`.
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
    // Whoever started it may not be listening any more; it serves nevertheless.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

/// A process that unmounts when this one is gone.
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
        platform::apart(&mut command);
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
