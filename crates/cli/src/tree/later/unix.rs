//! The slots, and the processes.

use rustix::fs::{FlockOperation, flock};
use smallfry::tree::{Remover, TreeError};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The number of processes for a file system.
const SLOTS: u32 = 2;
/// Ends the path in a slot. An error of its removal may follow.
const END: u8 = 0;
/// The end of the names that [`Remover::set_aside`] gives.
const ASIDE: &[u8] = b".smallfry";

/// The slots of this user.
pub(in crate::tree) struct Slots(PathBuf);

impl Slots {
    /// Makes their directory, if it is missing: `smallfry/removing` in `XDG_STATE_HOME`, or in
    /// `.local/state` of the home directory.
    pub(in crate::tree) fn open() -> io::Result<Self> {
        let absolute = |name| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .ok_or(io::ErrorKind::NotFound)?;
        let directory = state.join("smallfry/removing");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)?;
        if directory.metadata()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self(directory))
    }

    /// Starts a process for each tree that an earlier one has left. Returns the errors of earlier
    /// ones, each once.
    pub(in crate::tree) fn resume(&self) -> io::Result<Vec<String>> {
        let mut errors = Vec::new();
        for entry in self.0.read_dir()? {
            let Some(mut slot) = Slot::take(&entry?.path())? else {
                continue;
            };
            match slot.read()? {
                Some((path, error)) if !error.is_empty() => {
                    let path = path.display();
                    errors.push(format!("{path}, which was to be removed later: {error}"));
                    slot.empty()?;
                }
                Some(_) => slot.start()?,
                None => {}
            }
        }
        Ok(errors)
    }

    /// Renames the directory at `path`, and starts the process that removes it. False if it is to
    /// be removed now: there is no free slot, or it is no directory.
    pub(in crate::tree) fn remove(
        &self,
        remover: &Remover,
        path: &Path,
    ) -> Result<bool, TreeError> {
        // What is mounted below would be moved, too. The error of removing it now tells where.
        if !is_directory(path) || has_mount_below(path) {
            return Ok(false);
        }
        let Ok(Some(mut slot)) = self.free_slot(path) else {
            return Ok(false);
        };
        let aside = remover.set_aside(path)?;
        let started = std::path::absolute(&aside).and_then(|aside| {
            slot.write(&aside, "")?;
            slot.start()
        });
        if started.is_err() {
            remover.remove(&aside)?;
        }
        Ok(true)
    }

    /// Returns a slot for the file system of `path`.
    fn free_slot(&self, path: &Path) -> io::Result<Option<Slot>> {
        let device = path.symlink_metadata()?.dev();
        for number in 0..SLOTS {
            let path = self.0.join(format!("{device:x}-{number}"));
            if let Some(mut slot) = Slot::take(&path)?
                && slot.read()?.is_none()
            {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }
}

/// A slot whose lock this process holds.
struct Slot(File);

impl Slot {
    /// Locks a slot; `None` if another process has it.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the path of a tree, and the error of its removal if there was one.
    fn read(&mut self) -> io::Result<Option<(PathBuf, String)>> {
        let mut bytes = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut bytes)?;
        // A path without an end was cut off, before anything was renamed.
        let Some(end) = bytes.iter().position(|byte| *byte == END) else {
            return Ok(None);
        };
        let path = Path::new(OsStr::from_bytes(&bytes[..end]));
        let is_aside = path.is_absolute() && path.as_os_str().as_bytes().ends_with(ASIDE);
        let error = String::from_utf8_lossy(&bytes[end + 1..]).into_owned();
        Ok(is_aside.then(|| (path.to_owned(), error)))
    }

    fn write(&mut self, path: &Path, error: &str) -> io::Result<()> {
        self.empty()?;
        let bytes = [path.as_os_str().as_bytes(), &[END], error.as_bytes()].concat();
        self.0.write_all(&bytes)
    }

    fn empty(&mut self) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()
    }

    /// Starts the process that removes the tree. The slot is its standard input, with the lock.
    fn start(self) -> io::Result<()> {
        Command::new(std::env::current_exe()?)
            .args(["rm", "--slot"])
            .stdin(self.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .map(drop)
    }
}

/// Removes the tree of the slot that is the standard input.
pub(in crate::tree) fn work_off() -> ExitCode {
    // Leaves the terminal, and lets other processes run first. Failures do no harm.
    let _ = rustix::process::setsid();
    let _ = rustix::process::nice(19);
    let removed = || -> io::Result<()> {
        let mut slot = Slot(io::stdin().as_fd().try_clone_to_owned()?.into());
        let Some((path, _)) = slot.read()? else {
            return Ok(());
        };
        match Remover::new().missing_ok(true).remove(&path) {
            Ok(_) => slot.empty(),
            Err(error) => slot.write(&path, &error.to_string()),
        }
    };
    match removed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Returns true if another file system is mounted below `path`, as far as the system tells. A mount
/// would move with the tree.
fn has_mount_below(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mut points = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points.any(|point| Path::new(OsStr::from_bytes(&unescaped(point))).starts_with(&path))
}

/// Reads the octal numbers that stand for spaces and others in the table,
/// [proc_pid_mountinfo(5)](https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html).
fn unescaped(point: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point;
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (
                b'\\',
                [
                    a @ b'0'..=b'3',
                    b @ b'0'..=b'7',
                    c @ b'0'..=b'7',
                    after @ ..,
                ],
            ) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescaped_reads_octal_numbers() {
        assert_eq!(unescaped(br"/a\040b\134c\9"), br"/a b\c\9");
    }
}
