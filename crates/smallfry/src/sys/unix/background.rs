//! The directory of the slots, their locks by `flock`, and processes in a session of their own.

use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the directory of the slots, if it is missing: `smallfry/removing` in `XDG_STATE_HOME`, or
/// in `.local/state` of the home directory. A home of another user, which sudo may keep, is
/// refused.
pub(crate) fn make_directory() -> io::Result<PathBuf> {
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
    Ok(directory)
}

/// Opens or creates the file at `path`, and locks it; `None` if another process has it. The lock
/// belongs to the open file, also in a process that inherits it.
///
/// `flock`, [flock(2)](https://man7.org/linux/man-pages/man2/flock.2.html)
pub(crate) fn open_locked(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the file that is the standard input.
pub(crate) fn stdin() -> io::Result<File> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Returns the device and inode of a directory.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = path.metadata()?;
    Ok((found.dev(), found.ino()))
}

/// Returns the bytes of a path in a slot.
#[allow(clippy::unnecessary_wraps, reason = "on Windows a path may have none")]
pub(crate) fn bytes_of(path: &Path) -> Option<&[u8]> {
    Some(path.as_os_str().as_bytes())
}

/// Returns the path of these bytes in a slot.
#[allow(clippy::unnecessary_wraps, reason = "on Windows bytes may be no path")]
pub(crate) fn path_from(bytes: &[u8]) -> Option<&Path> {
    Some(Path::new(OsStr::from_bytes(bytes)))
}

/// Keeps the current directory of the caller out of the way of `umount`.
pub(crate) fn prepare_background(command: &mut Command) {
    command.current_dir("/");
}

/// Leaves the terminal, and lets other processes run first.
pub(crate) fn enter_background() {
    close_inherited();
    // Failures do no harm.
    let _ = rustix::process::setsid();
    let _ = rustix::process::nice(19);
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
pub(crate) fn has_mount_below(path: &Path) -> bool {
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
