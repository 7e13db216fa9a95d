//! The slots, and the processes.

use super::Removal;
use rustix::fs::{FlockOperation, flock};
use smallfry::tree::Remover;
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
/// Ends each part of a slot.
const END: u8 = 0;
/// The end of the names that [`Remover::set_aside`] gives.
const ASIDE: &[u8] = b".smallfry";

/// The slots of this user.
pub(in crate::tree) struct Slots(PathBuf);

impl Slots {
    /// Makes their directory, if it is missing: `smallfry/removing` in `XDG_STATE_HOME`, or in
    /// `.local/state` of the home directory. A home of another user, which sudo may keep, is
    /// refused.
    pub(in crate::tree) fn open() -> io::Result<Self> {
        let absolute = |name| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .ok_or(io::ErrorKind::NotFound)?;
        let directory = state.join("smallfry/removing");
        let there = directory.ancestors().find_map(|path| path.metadata().ok());
        let own = rustix::process::geteuid().as_raw();
        if there.is_none_or(|there| there.uid() != own) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)?;
        Ok(Self(directory))
    }

    /// Starts a process for each tree that an earlier one has left. Returns the reasons why they
    /// were left.
    pub(in crate::tree) fn resume(&self) -> Vec<String> {
        let entries = self.0.read_dir().into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let resumed = files.map(|entry| {
            resume(&entry.path()).unwrap_or_else(|error| {
                let path = entry.path();
                Some(format!("{}: {error}", path.display()))
            })
        });
        resumed.flatten().collect()
    }

    /// Renames the directory at `path`, and starts the process that removes it. `None` if it is to
    /// be removed at its own name: there is no free slot, it is no directory, or it cannot be
    /// renamed.
    pub(in crate::tree) fn remove(&self, remover: &Remover, path: &Path) -> Option<Removal> {
        // What is mounted below would be moved, too. The error of removing it tells where.
        if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) || has_mount_below(path) {
            return None;
        }
        let mut slot = self.free_slot(path).ok()??;
        let announce = |aside: &Path| slot.write(&Left::new(std::path::absolute(aside)?)?);
        let Ok(aside) = remover.set_aside(path, announce) else {
            let _ = slot.empty();
            return None;
        };
        Some(match slot.start() {
            Ok(()) => Removal::Later,
            Err(_) => Removal::Now(remover.remove(aside)),
        })
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

/// Starts a process for the tree of a slot that no process has. Returns the reason why it was left.
fn resume(path: &Path) -> io::Result<Option<String>> {
    let Some(mut slot) = Slot::take(path)? else {
        return Ok(None);
    };
    let Some(left) = slot.read()? else {
        return Ok(None);
    };
    if left.path.symlink_metadata().is_err() {
        // Its disk may not be mounted, or this home is used on several machines.
        if left.is_reachable() {
            slot.empty()?;
        }
        return Ok(None);
    }
    slot.start()?;
    let Left { path, error, .. } = left;
    let told = || format!("{}, which was to be removed later: {error}", path.display());
    Ok((!error.is_empty()).then(told))
}

/// A tree that is being removed.
struct Left {
    path: PathBuf,
    /// The device and inode of the directory that it is in.
    above: (u64, u64),
    /// The error of an earlier removal, or nothing.
    error: String,
}

impl Left {
    fn new(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            above: identity_above(&path)?,
            path,
            error: String::new(),
        })
    }

    /// Returns true if the directory of the tree is there.
    fn is_reachable(&self) -> bool {
        identity_above(&self.path).is_ok_and(|above| above == self.above)
    }
}

fn identity_above(path: &Path) -> io::Result<(u64, u64)> {
    let above = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let found = above.metadata()?;
    Ok((found.dev(), found.ino()))
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

    /// Returns the tree that the slot names.
    fn read(&mut self) -> io::Result<Option<Left>> {
        let mut bytes = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut bytes)?;
        let mut parts = bytes.split(|byte| *byte == END);
        let mut left = || {
            let path = Path::new(OsStr::from_bytes(parts.next()?));
            let device = str::from_utf8(parts.next()?).ok()?.parse().ok()?;
            let inode = str::from_utf8(parts.next()?).ok()?.parse().ok()?;
            // A slot that ends before it was cut off before anything was renamed.
            let error = String::from_utf8_lossy(parts.next()?).into_owned();
            let is_aside = path.is_absolute() && path.as_os_str().as_bytes().ends_with(ASIDE);
            is_aside.then(|| Left {
                path: path.to_owned(),
                above: (device, inode),
                error,
            })
        };
        Ok(left())
    }

    fn write(&mut self, left: &Left) -> io::Result<()> {
        self.empty()?;
        let (device, inode) = left.above;
        let path = left.path.as_os_str().as_bytes();
        let rest = format!("\0{device}\0{inode}\0{}", left.error);
        self.0.write_all(&[path, rest.as_bytes()].concat())
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
    close_inherited();
    // Leaves the terminal, and lets other processes run first. Failures do no harm.
    let _ = rustix::process::setsid();
    let _ = rustix::process::nice(19);
    let removed = || -> io::Result<()> {
        let mut slot = Slot(io::stdin().as_fd().try_clone_to_owned()?.into());
        let Some(mut left) = slot.read()? else {
            return Ok(());
        };
        if !left.is_reachable() {
            return Ok(());
        }
        match Remover::new().missing_ok(true).remove(&left.path) {
            Ok(_) => slot.empty(),
            Err(error) => {
                left.error = error.to_string();
                slot.write(&left)
            }
        }
    };
    match removed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Closes descriptors that the caller's shell has opened, such as a lock or a pipe: others may wait
/// until they are closed.
///
/// `close_range`, [close_range(2)](https://man7.org/linux/man-pages/man2/close_range.2.html)
fn close_inherited() {
    // SAFETY: nothing of this process has opened a descriptor yet.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0)
    };
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
