//! Slow disks over FUSE.

use super::COMMAND;
use crate::bench::child::End;
use crate::bench::failure::Failure;
use crate::bench::interrupt::{Interrupt, Registered};
use rustix::fs::{XattrFlags, setxattr};
use smallfry_slowfs::EMPTY_CACHE;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The maximum time of mounting, and of unmounting.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first word of the line that the child says when it serves.
const READY: &str = "mounted";

/// A mount. Dropping it unmounts.
pub(in crate::bench) struct Slow {
    profile: String,
    child: Registered,
    point: PathBuf,
    beneath: File,
}

impl Slow {
    /// Mounts at `point`, which then shows the contents of `directory`; it may be `directory`
    /// itself.
    pub(in crate::bench) fn mount(
        profile: &str,
        directory: &Path,
        point: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let this = std::env::current_exe().map_err(|error| {
            Failure::said(format!("cannot find the smallfry binary itself: {error}"))
        })?;
        let beneath = File::open(directory).map_err(Failure::at("open directory", directory))?;
        let mut child = Command::new(this)
            .args([COMMAND, profile])
            // Should this process be killed before the child looks who its parent is.
            .args(["--parent", &std::process::id().to_string()])
            .arg("--at")
            .args([point, directory])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| Failure::said(format!("cannot run smallfry {COMMAND}: {error}")))?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let slow = Self {
            profile: profile.to_owned(),
            child: Interrupt::keep(child),
            point: point.to_owned(),
            beneath,
        };
        if !output.is_some_and(is_ready) {
            interrupt.check()?;
            return Err(slow.refused(errors));
        }
        interrupt.check()?;
        Ok(slow)
    }

    pub(in crate::bench) fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the mounted directory as it was before, where work takes none of the slow disk's
    /// time.
    pub(in crate::bench) fn beneath(&self) -> PathBuf {
        // The descriptor was opened before the mount, and still means the directory under it.
        PathBuf::from(format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.beneath.as_raw_fd()
        ))
    }

    /// Empties the simulated disk's own cache, which outlives the page cache.
    pub(in crate::bench) fn empty_cache(&self) -> io::Result<()> {
        Ok(setxattr(
            &self.point,
            EMPTY_CACHE,
            b"",
            XattrFlags::empty(),
        )?)
    }

    /// Unmounts, or says that it cannot.
    pub(in crate::bench) fn unmount(&self) -> Result<(), Failure> {
        let end = self.child.terminate(PATIENCE);
        if matches!(end, Some(End { status, .. }) if status.success()) || !self.is_mounted() {
            return Ok(());
        }
        // What is still busy goes as soon as it no longer is.
        let _ = Command::new("umount").arg("-l").arg(&self.point).output();
        if self.is_mounted() {
            return Err(Failure::said(format!(
                "cannot unmount {}: umount -l does it by hand",
                self.point.display()
            )));
        }
        Ok(())
    }

    fn is_mounted(&self) -> bool {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let point = self.point.to_string_lossy();
        table
            .lines()
            .filter_map(|line| line.split(' ').nth(4))
            .any(|other| other == point)
    }

    /// Returns why the child did not serve, in its own words.
    fn refused(&self, errors: Option<ChildStderr>) -> Failure {
        self.child.terminate(PATIENCE);
        let mut said = Vec::new();
        if let Some(errors) = errors {
            // A complaint that cannot be read adds nothing.
            let _ = errors.take(64 << 10).read_to_end(&mut said);
        }
        let said = String::from_utf8_lossy(&said);
        let why = said
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map_or("it needs Linux, /dev/fuse, and root", |line| {
                line.trim_start_matches("error: ")
            });
        Failure::said(format!(
            "cannot measure on the slow disk {:?}: {why} (--disk {} measures the disk as it is)",
            self.profile,
            super::REAL
        ))
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        // A caller that needs the error has called `unmount` before.
        let _ = self.unmount();
    }
}

/// Waits for the line that says so. Later lines are read and dropped, so that the child is never
/// stuck.
fn is_ready(output: ChildStdout) -> bool {
    let (sender, first) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            // After the first line the receiver is gone.
            let _ = sender.send(line);
        }
    });
    first
        .recv_timeout(PATIENCE)
        .is_ok_and(|line| line.starts_with(READY))
}
