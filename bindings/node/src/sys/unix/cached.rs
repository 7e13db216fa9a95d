//! Questions about a file that the kernel answers from its memory. They wait for no disk and no
//! server, so the main thread may ask them.
//!
//! Linux opens a path with `RESOLVE_CACHED` only if all its names are in memory, and then the
//! status of the file is there as well. It may be out of date on the file system of a server, so
//! only some file systems are asked.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use smallfry::raw::Errno;

use super::interrupted::last_errno;
use super::metadata::{MASK, fields, is_plain};
use crate::sys::metadata::{Operation, Status};

/// The answer to a question.
pub(crate) enum Cached {
    /// There is such a file, and the access that was asked for is allowed.
    Yes,
    Status(Status),
}

/// The file systems that answer from memory once the names of a file are there, and wait for
/// nobody.
const LOCAL: [&str; 8] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay",
];

/// False if the kernel, or a sandbox, does not know the call.
static IS_AVAILABLE: AtomicBool = AtomicBool::new(true);
static MOUNTS: Mutex<Mounts> = Mutex::new(Mounts {
    local: Vec::new(),
    valid_until: None,
});

/// Answers `access`, `stat` or `lstat` from memory; `None` if another thread has to.
///
/// `openat2`, [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html)
pub(crate) fn look_up(
    path: &CStr,
    operation: Operation,
    mode: u32,
) -> Result<Option<Cached>, Errno> {
    if !IS_AVAILABLE.load(Ordering::Relaxed) {
        return Ok(None);
    }
    if operation == Operation::Access && has_other_rights() {
        return Ok(None);
    }
    let file = match open(path, operation != Operation::Lstat) {
        Ok(file) => file,
        Err(Errno(libc::ENOSYS | libc::EPERM | libc::EINVAL)) => {
            IS_AVAILABLE.store(false, Ordering::Relaxed);
            return Ok(None);
        }
        Err(errno) if is_plain(errno) => return Err(errno),
        Err(_) => return Ok(None),
    };
    if operation == Operation::Access && mode == 0 {
        return Ok(Some(Cached::Yes));
    }
    let Some((status, mount)) = status(file.as_raw_fd()) else {
        return Ok(None);
    };
    if !is_local(mount) {
        return Ok(None);
    }
    if operation != Operation::Access {
        return Ok(Some(Cached::Status(status)));
    }
    match access(file.as_raw_fd(), mode) {
        Ok(()) => Ok(Some(Cached::Yes)),
        Err(errno) if is_plain(errno) => Err(errno),
        Err(_) => Ok(None),
    }
}

/// The mounts of this process, as they were when they were last read.
struct Mounts {
    /// The numbers of those with a file system that is asked.
    local: Vec<u64>,
    valid_until: Option<Instant>,
}

/// The time after which the mounts are read again: a number may have become that of another one.
const MIN_VALIDITY: Duration = Duration::from_secs(1);
/// The same as a multiple of the time that reading them takes. A machine may have thousands.
const READING_TIMES: u32 = 100;

/// Tells whether the mount with this number has a file system that is asked.
fn is_local(mount: u64) -> bool {
    let mut mounts = MOUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    if mounts.valid_until.is_none_or(|until| until < now) {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        mounts.local = text.lines().filter_map(local_mount).collect();
        let validity = MIN_VALIDITY.max(now.elapsed() * READING_TIMES);
        mounts.valid_until = Some(now + validity);
    }
    mounts.local.contains(&mount)
}

/// Returns the number of a mount from its line, if it has a file system that is asked.
///
/// [proc_pid_mountinfo(5)](https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html)
fn local_mount(line: &str) -> Option<u64> {
    let (mount, file_system) = line.split_once(" - ")?;
    let kind = file_system.split(' ').next()?;
    let number = mount.split(' ').next()?;
    LOCAL.contains(&kind).then(|| number.parse().ok())?
}

/// Opens a path whose names are all in memory, only to ask about it.
fn open(path: &CStr, follow: bool) -> Result<OwnedFd, Errno> {
    let no_follow = if follow { 0 } else { libc::O_NOFOLLOW };
    // SAFETY: zeroed, the structure asks for nothing.
    let mut how: libc::open_how = unsafe { MaybeUninit::zeroed().assume_init() };
    how.flags = u64::from((libc::O_PATH | libc::O_CLOEXEC | no_follow).cast_unsigned());
    how.resolve = libc::RESOLVE_CACHED;
    // SAFETY: the path is NUL-terminated, and the structure has the size that is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    match RawFd::try_from(result) {
        // SAFETY: the new descriptor has no other owner.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        _ => Err(last_errno()),
    }
}

/// Returns the status of an open file without asking a server, and the number of its mount.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
fn status(file: RawFd) -> Option<(Status, u64)> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_STATX_DONT_SYNC;
    let mask = MASK | libc::STATX_MNT_ID;
    let mut status = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is NUL-terminated, there is room for one structure, and zeroed memory is
    // valid.
    let status = unsafe {
        if libc::statx(file, c"".as_ptr(), flags, mask, status.as_mut_ptr()) != 0 {
            return None;
        }
        status.assume_init()
    };
    let has_mount = status.stx_mask & libc::STATX_MNT_ID != 0;
    has_mount.then(|| (fields(&status), status.stx_mnt_id))
}

/// Tells whether the user or group whose rights count when a path is opened is not the one that
/// `access` asks for, as after `process.seteuid`.
///
/// [credentials(7)](https://man7.org/linux/man-pages/man7/credentials.7.html)
fn has_other_rights() -> bool {
    // SAFETY: these functions have no preconditions.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// Asks for access to an open file.
///
/// `faccessat2`, [access(2)](https://man7.org/linux/man-pages/man2/access.2.html)
fn access(file: RawFd, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated. libc's own function emulates the flag on some systems.
    let result = unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            file,
            c"".as_ptr(),
            mode,
            libc::AT_EMPTY_PATH,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn local_mount_knows_the_file_system() {
        let line =
            |kind| format!("36 35 98:0 /a /b rw,noatime master:1 shared:7 - {kind} /dev/c rw");
        assert_eq!(local_mount(&line("ext4")), Some(36));
        assert_eq!(local_mount(&line("nfs4")), None);
        assert_eq!(local_mount(&line("fuse.sshfs")), None);
        assert_eq!(
            local_mount("36 35 98:0 / /a\\040-\\040b rw - tmpfs tmpfs rw"),
            Some(36)
        );
        assert_eq!(local_mount(""), None);
    }

    #[test]
    fn look_up_answers_for_a_file_that_was_just_written() {
        let path = std::env::temp_dir().join(format!("smallfry-cached-{}", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        let ask = |operation, mode| look_up(&name, operation, mode);
        let answer = ask(Operation::Stat, 0);
        if !IS_AVAILABLE.load(Ordering::Relaxed) {
            return;
        }
        // Another thread may be changing the directory meanwhile, and then the kernel gives up.
        if let Ok(Some(Cached::Status(status))) = answer {
            assert_eq!(status[8], 4);
        }
        assert!(ask(Operation::Access, libc::R_OK.cast_unsigned()).is_ok());
        std::fs::remove_file(&path).unwrap();
        assert!(!matches!(ask(Operation::Lstat, 0), Ok(Some(_))));
    }
}
