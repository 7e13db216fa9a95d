//! macOS, and the BSDs: flushing one file. No call flushes a whole file system and reports errors.

use std::os::fd::AsRawFd;

use super::BorrowedFile;
use crate::errno::Errno;
use crate::sys::platform::repeat_if_interrupted;

pub(crate) use crate::sys::file_by_file::{WholeFileSystem, begin_flush, unwritten_bytes};

/// `fcntl(F_FULLFSYNC)`: here `fsync` alone leaves what was written in the disk's own cache. File systems and disks that have
/// no such call (`ENOTSUP`, `ENOTTY`, `EINVAL`) get a barrier, which keeps the order at least, or else `fsync`.
///
/// [fcntl(2), `F_FULLFSYNC`, `F_BARRIERFSYNC`](https://www.manpagez.com/man/2/fcntl/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    for command in [libc::F_FULLFSYNC, libc::F_BARRIERFSYNC] {
        // SAFETY: the descriptor is open as long as it is borrowed, and the commands take no argument.
        match repeat(|| unsafe { libc::fcntl(file.as_raw_fd(), command) }) {
            Err(Errno(libc::ENOTSUP | libc::ENOTTY | libc::EINVAL)) => {}
            done => return done,
        }
    }
    // SAFETY: the descriptor is open as long as it is borrowed.
    repeat(|| unsafe { libc::fsync(file.as_raw_fd()) })
}

#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as it is borrowed.
    repeat(|| unsafe { libc::fsync(file.as_raw_fd()) })
}

/// No less: macOS has nothing that reaches the disk and leaves metadata out.
pub(in crate::sys) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    flush_file(file)
}

pub(in crate::sys) fn flush_directory(directory: BorrowedFile<'_>) -> Result<(), Errno> {
    flush_file(directory)
}

fn repeat(call: impl Fn() -> libc::c_int) -> Result<(), Errno> {
    while call() == -1 {
        repeat_if_interrupted()?;
    }
    Ok(())
}
