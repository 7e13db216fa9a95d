//! `--disk`: a directory that behaves like a slow disk, served by a child process, `smallfry slow`.
//!
//! The child has a process group of its own, so that Ctrl-C does not reach it: first the rows are
//! ended, then the child is asked to end, which unmounts. It unmounts by itself when this process
//! is killed. On systems that have no slow disks the child says so.

use crate::failure::Failure;
use crate::process::child::{Child, this_program};
use crate::process::interrupt::Interrupt;
use crate::slow::apart;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(super) use crate::export::document::REAL;
/// The slow disk that adds no delay: the mount's own cost is left.
pub(super) const UNDELAYED: &str = "none";
/// The maximum time of mounting, and of unmounting.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The usual reason why a slow disk cannot be mounted.
const NEEDS: &str = "it needs Linux, /dev/fuse, and root";
/// The first word of the line that the child says when it serves.
const READY: &str = "mounted";

/// A mount. Dropping it unmounts.
pub(super) struct Slow {
    pub(super) profile: String,
    child: Child,
    point: PathBuf,
    /// The directory under the mount, opened before it.
    beneath: File,
}

impl Slow {
    /// Mounts at `point`, which then shows the contents of `directory`; it may be `directory`
    /// itself. The handlers of `interrupt` leave the child alone: it ends when the run unwinds,
    /// after all others.
    pub(super) fn mount(
        profile: &str,
        directory: &Path,
        point: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let beneath = File::open(directory).map_err(Failure::at("open directory", directory))?;
        let mut command = Command::new(this_program()?);
        command
            .args(["slow", profile])
            // This process may be killed before the child looks who its parent is.
            .args(["--parent", &std::process::id().to_string()])
            .arg("--at")
            .args([point, directory]);
        apart(&mut command);
        let mut slow = Self {
            profile: profile.to_owned(),
            child: Child::start(&mut command)?,
            point: point.to_owned(),
            beneath,
        };
        let first = slow.child.lines.recv_timeout(TIMEOUT);
        interrupt.check()?;
        if first.is_ok_and(|line| line.starts_with(READY)) {
            return Ok(slow);
        }
        slow.terminate();
        let complaint = slow.child.complaint();
        let why = complaint.as_deref().unwrap_or(NEEDS);
        let why = why.trim_start_matches("error: ");
        Err(Failure::said(format!(
            "cannot measure on the slow disk {profile:?}: {why} ({}--disk {REAL} measures the disk as it is)",
            as_root()
        )))
    }

    /// Returns the mounted directory as it was before, where work takes none of the slow disk's
    /// time.
    pub(super) fn beneath(&self) -> PathBuf {
        // The descriptor still means the directory under the mount.
        #[cfg(unix)]
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&self.beneath);
        #[cfg(not(unix))]
        let descriptor = &self.beneath;
        format!("/proc/{}/fd/{descriptor:?}", std::process::id()).into()
    }

    /// Empties the simulated disk's own cache, which outlives the page cache.
    pub(super) fn empty_cache(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::setxattr(
            &self.point,
            smallfry_slowfs::EMPTY_CACHE,
            b"",
            rustix::fs::XattrFlags::empty(),
        )?;
        Ok(())
    }

    /// Unmounts, or says that it cannot.
    pub(super) fn unmount(&mut self) -> Result<(), Failure> {
        if self.terminate() || !self.is_mounted() {
            return Ok(());
        }
        // A busy mount goes as soon as it is no longer busy.
        let _ = Command::new("umount").arg("-l").arg(&self.point).output();
        if self.is_mounted() {
            let help = "umount -l does it by hand";
            return Err(Failure::at("unmount", &self.point)(help));
        }
        Ok(())
    }

    /// Returns true if the child ended as it should.
    fn terminate(&mut self) -> bool {
        self.child.terminate();
        let end = self.child.wait(TIMEOUT);
        end.is_some_and(|end| end.status.success())
    }

    fn is_mounted(&self) -> bool {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut points = table.lines().filter_map(|line| line.split(' ').nth(4));
        points.any(|point| Path::new(point) == self.point)
    }
}

/// Returns the command line for root, unless this process is root's: only root may mount.
fn as_root() -> String {
    #[cfg(unix)]
    if !rustix::process::geteuid().is_root() {
        let words = std::env::args().skip(1).collect::<Vec<_>>();
        let line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        return format!("sudo smallfry {line} may do it; ");
    }
    String::new()
}

impl Drop for Slow {
    fn drop(&mut self) {
        // A caller that needs the error has called `unmount` before.
        let _ = self.unmount();
    }
}
