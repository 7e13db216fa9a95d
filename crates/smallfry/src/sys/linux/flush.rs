//! Linux: flushing one file, or a whole file system where that is a barrier.

use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use rustix::io::retry_on_intr;
use rustix::ioctl::{Getter, Opcode, ioctl};

use super::magic_number;
use crate::errno::Errno;
use crate::sys::platform::{BorrowedFile, OwnedFile, errno, last_error};

/// The magic numbers of file systems that `syncfs` reaches.
///
/// [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html)
const EXT: u32 = 0xEF53;
const XFS: u32 = 0x5846_5342;
const BTRFS: u32 = 0x9123_683E;

/// A request that ext4 answers. The old drivers of ext2 and ext3 have the same magic number and do
/// not answer it.
///
/// [ext4, ioctls](https://docs.kernel.org/admin-guide/ext4.html#ioctls)
const EXT4_IOC_GETSTATE: Opcode = 0x4004_6629;

pub(in crate::sys) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fdatasync(file)).map_err(errno)
}

pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fsync(file)).map_err(errno)
}

/// Flushes the names in a directory, one thread at a time on ext4 without a journal.
///
/// There ext4 loses names when several threads flush one directory. The first thread takes a block
/// off the list of blocks to be written and writes an older state of it; the second does not find
/// the block and returns at once (`fsync_buffers_list` in `fs/buffer.c`).
pub(in crate::sys) fn flush_directory(directory: BorrowedFile<'_>) -> Result<(), Errno> {
    static TURN: Mutex<()> = Mutex::new(());

    // ext4 is on a disk with a number of its own. A server that does not answer must not block the
    // flushes of disks.
    let is_on_disk = super::device_of(directory).is_some_and(|device| device >> 32 != 0);
    // A thread that flushes alone need not know the file system.
    let _turn = match TURN.try_lock() {
        _ if !is_on_disk => None,
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
        Err(TryLockError::WouldBlock) => (magic_number(directory) == Some(EXT)
            && !has_journal(directory))
        .then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    match flush_file(directory) {
        // Some file systems have no such call, such as those that hosts share with virtual
        // machines.
        Err(Errno(libc::EINVAL)) => Ok(()),
        done => done,
    }
}

/// Makes the system begin to write the contents of a file. An error is one of writing, which a
/// later flush need not repeat. A file that has no such call is no error.
///
/// `sync_file_range`,
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

/// A file system that `syncfs` flushes whole and whose errors it reports: ext4, XFS and Btrfs since
/// Linux 5.17.
///
/// Other file systems are left out. FUSE answers 0 and tells its server nothing, and overlayfs
/// reports only errors of its own.
///
/// [syncfs(2)](https://man7.org/linux/man-pages/man2/syncfs.2.html)
#[derive(Debug)]
pub(crate) struct WholeFileSystem {
    /// A file on it. Errors count since this file was opened.
    file: OwnedFile,
}

impl WholeFileSystem {
    /// Returns the file system of an open file. Call it before the first write that is to be
    /// flushed.
    pub(crate) fn of(file: BorrowedFile<'_>) -> Option<Self> {
        let is_known = match magic_number(file)? {
            EXT => is_ext4(file),
            magic => matches!(magic, XFS | BTRFS),
        };
        if !is_known || !reports_errors() {
            return None;
        }
        // The duplicate shares the description of the file, and with it the time since when errors
        // count.
        let file = file.try_clone_to_owned().ok()?;
        Some(Self { file })
    }

    /// Flushes the file system, and then that file. An interrupted call is repeated.
    ///
    /// The flush of the file makes sure that the disk's own cache is flushed at the end. ext4
    /// without a journal flushes the cache before it writes the last blocks, and XFS does not flush
    /// it if its log has nothing new. The flush of the file also reports a file system that has
    /// failed meanwhile: on some kernels `syncfs` then finds nothing to do and succeeds.
    ///
    /// `syncfs`, `fsync`, [syncfs(2)](https://man7.org/linux/man-pages/man2/syncfs.2.html)
    pub(crate) fn flush(&self) -> Result<(), Errno> {
        retry_on_intr(|| rustix::fs::syncfs(&self.file)).map_err(errno)?;
        flush_file(self.file.as_fd())
    }
}

/// Returns true if the driver of ext4 answers for an open file.
///
/// `ioctl(EXT4_IOC_GETSTATE)`, [ioctl(2)](https://man7.org/linux/man-pages/man2/ioctl.2.html)
fn is_ext4(file: BorrowedFile<'_>) -> bool {
    // SAFETY: the request writes a number of 32 bits.
    unsafe { ioctl(file, Getter::<EXT4_IOC_GETSTATE, u32>::new()) }.is_ok()
}

/// Returns true if ext4 has a journal there, which a task of its own writes; false if that is not
/// known.
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

/// Returns true if `syncfs` reports failed writes. It reports those of contents since Linux 5.8. Up
/// to 5.16 it hides that the file system itself failed to commit its journal.
///
/// [syncfs(2), VERSIONS](https://man7.org/linux/man-pages/man2/syncfs.2.html)
fn reports_errors() -> bool {
    const UNKNOWN: u8 = 2;
    // No lock: a fork could leave it locked for ever in the child. Threads may find it out twice.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
            let mut numbers = release.split(['.', '-']).map(|part| part.parse().ok());
            let version: Option<(u32, u32)> =
                numbers.next().flatten().zip(numbers.next().flatten());
            let answer = version >= Some((5, 17));
            ANSWER.store(answer.into(), Ordering::Relaxed);
            answer
        }
        answer => answer == 1,
    }
}

/// Returns how many bytes of all processes the system has still to write to disks; `None` if it
/// does not tell.
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
