//! Linux: flushing one file, and a whole file system where that is a barrier.

use std::fs;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

use super::{BorrowedFile, OwnedFile};
use crate::errno::Errno;
use crate::sys::platform::{last_error, repeat_if_interrupted};

/// Magic numbers of file systems that `syncfs` reaches.
///
/// [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html)
const EXT: u32 = 0xEF53;
const XFS: u32 = 0x5846_5342;
const BTRFS: u32 = 0x9123_683E;

/// `EXT4_IOC_GETSTATE`: ext4 answers, the old drivers of ext2 and ext3, which have the same magic number, do not.
///
/// [ext4, ioctls](https://docs.kernel.org/admin-guide/ext4.html#ioctls)
const EXT4_IOC_GETSTATE: libc::c_ulong = 0x4004_6629;

pub(in crate::sys) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as it is borrowed.
    repeat(|| unsafe { libc::fdatasync(file.as_raw_fd()) })
}

pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as it is borrowed.
    repeat(|| unsafe { libc::fsync(file.as_raw_fd()) })
}

/// Without a journal ext4 loses names when several threads flush one directory: who comes second finds its block taken off the
/// list of what is to be written, by one who writes an older state of it, and returns at once (`fsync_buffers_list` in
/// `fs/buffer.c`). So there they take turns.
pub(in crate::sys) fn flush_directory(directory: BorrowedFile<'_>) -> Result<(), Errno> {
    static TURN: Mutex<()> = Mutex::new(());

    // ext4 is on a disk of its own number. A server that does not answer must not keep others waiting.
    let is_on_disk = super::device_of(directory).is_some_and(|device| device >> 32 != 0);
    // Who is alone need not know more.
    let _turn = match TURN.try_lock() {
        _ if !is_on_disk => None,
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
        Err(TryLockError::WouldBlock) => (kind_of(directory) == Some(EXT)
            && !has_journal(directory))
        .then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    match flush_file(directory) {
        // A file system without such a call, such as those that hosts share with virtual machines.
        Err(Errno(libc::EINVAL)) => Ok(()),
        done => done,
    }
}

/// `sync_file_range`: has the system begin to write the contents of a file. An error is one of writing, which a flush that
/// follows need not repeat; that there is no such call for a file is none.
///
/// [sync_file_range(2)](https://man7.org/linux/man-pages/man2/sync_file_range.2.html)
pub(crate) fn begin_flush(file: BorrowedFile<'_>) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as it is borrowed, and no memory is involved.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) } {
        0 => Ok(()),
        _ => match last_error() {
            error @ Errno(libc::EIO | libc::ENOSPC | libc::EDQUOT) => Err(error),
            _ => Ok(()),
        },
    }
}

fn repeat(call: impl Fn() -> libc::c_int) -> Result<(), Errno> {
    while call() != 0 {
        repeat_if_interrupted()?;
    }
    Ok(())
}

/// A file system that `syncfs` flushes whole, and reports errors of: ext4, XFS and Btrfs since Linux 5.17.
///
/// Not others: FUSE answers 0 and tells its server nothing, and what overlayfs reports is its own.
///
/// [syncfs(2)](https://man7.org/linux/man-pages/man2/syncfs.2.html)
#[derive(Debug)]
pub(crate) struct WholeFileSystem {
    /// Errors are reported since this was opened.
    file: OwnedFile,
}

impl WholeFileSystem {
    /// The file system of an open file, before anything is written that is to be flushed.
    pub(crate) fn of(file: BorrowedFile<'_>) -> Option<Self> {
        let is_known = match kind_of(file)? {
            EXT => is_ext4(file),
            kind => matches!(kind, XFS | BTRFS),
        };
        if !is_known || !reports_errors() {
            return None;
        }
        // It shares the description of the file, and with it since when errors count.
        let file = file.try_clone_to_owned().ok()?;
        Some(Self { file })
    }

    /// `syncfs`, then `fsync` of that file, which makes sure of three things: that the disk's own cache is flushed at the end (ext4
    /// without a journal flushes it before it writes the last blocks, and XFS does not where its log has nothing new), and that
    /// the file system has not given up meanwhile, when some kernels' `syncfs` finds nothing to do and says so.
    pub(crate) fn flush(&self) -> Result<(), Errno> {
        // SAFETY: the descriptor is owned, hence open.
        repeat(|| unsafe { libc::syncfs(self.file.as_raw_fd()) })?;
        flush_file(self.file.as_fd())
    }
}

/// What `fstatfs` calls the file system of an open file.
fn kind_of(file: BorrowedFile<'_>) -> Option<u32> {
    let mut status = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the structure is large enough and borrowed for writing.
    if unsafe { libc::fstatfs(file.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let kind = unsafe { status.assume_init() }.f_type;
    // Its type differs between machines; the numbers have 32 bits.
    #[allow(clippy::cast_sign_loss, reason = "signed on some")]
    Some(kind as u32)
}

fn is_ext4(file: BorrowedFile<'_>) -> bool {
    let mut state = 0_u32;
    // SAFETY: the call writes a number of 32 bits to where it is told.
    unsafe { libc::ioctl(file.as_raw_fd(), EXT4_IOC_GETSTATE as _, &raw mut state) == 0 }
}

/// Whether ext4 has a journal there, which a task of its own writes; no where that cannot be told.
///
/// [ext4, `/sys/fs/ext4`](https://docs.kernel.org/admin-guide/ext4.html#sys-entries)
fn has_journal(file: BorrowedFile<'_>) -> bool {
    let number_of_task = || {
        let device = super::device_of(file)?;
        let (major, minor) = (device >> 32, device & 0xFFFF_FFFF);
        let disk = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
        let state = Path::new("/sys/fs/ext4").join(disk.file_name()?);
        let task = fs::read_to_string(state.join("journal_task")).ok()?;
        // `<none>` where there is none.
        task.trim().parse::<u32>().ok()
    };
    number_of_task().is_some()
}

/// Whether `syncfs` reports what could not be written. Since Linux 5.8 it does of contents; up to 5.16 it hides that the file
/// system itself failed, at committing its journal.
///
/// [syncfs(2), VERSIONS](https://man7.org/linux/man-pages/man2/syncfs.2.html)
fn reports_errors() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut numbers = release.split(['.', '-']).map(|part| part.parse().ok());
        let version: Option<(u32, u32)> = numbers.next().flatten().zip(numbers.next().flatten());
        version >= Some((5, 17))
    })
}

/// Bytes that the system has still to write to disks, whoever wrote them; `None` where it does not tell.
///
/// [proc_meminfo(5)](https://man7.org/linux/man-pages/man5/proc_meminfo.5.html)
pub(crate) fn unwritten_bytes() -> Option<u64> {
    let mut text = [0; 4096];
    let length = fs::File::open("/proc/meminfo").ok()?.read(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text[..length]);
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kibibytes << 10)
    };
    Some(of("Dirty:")? + of("Writeback:")?)
}
