//! macOS, and the BSDs: flushing one file. No call flushes a whole file system and reports errors.

use rustix::io::retry_on_intr;

use crate::errno::Errno;
use crate::sys::platform::{BorrowedFile, errno};

pub(crate) use crate::sys::file_by_file::{WholeFileSystem, begin_flush, unwritten_bytes};

/// Flushes a file with all its metadata, and the disk's own cache, which `fsync` leaves out here.
///
/// File systems and disks without such a call (`ENOTSUP`, `ENOTTY`, `EINVAL`) get a barrier, which
/// keeps the order of writes, or else `fsync`.
///
/// `fcntl(F_FULLFSYNC)`, `fcntl(F_BARRIERFSYNC)`, `fsync`,
/// [fcntl(2)](https://www.manpagez.com/man/2/fcntl/)
#[cfg(target_vendor = "apple")]
pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    let unsupported = |error| matches!(error, Errno(libc::ENOTSUP | libc::ENOTTY | libc::EINVAL));
    match retry_on_intr(|| rustix::fs::fcntl_fullfsync(file)).map_err(errno) {
        Err(error) if unsupported(error) => {}
        done => return done,
    }
    match barrier(file) {
        Err(error) if unsupported(error) => {}
        done => return done,
    }
    fsync(file)
}

/// Keeps earlier writes before later ones. An interrupted call is repeated.
///
/// `fcntl(F_BARRIERFSYNC)`, [fcntl(2)](https://www.manpagez.com/man/2/fcntl/)
#[cfg(target_vendor = "apple")]
fn barrier(file: BorrowedFile<'_>) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;

    use crate::sys::platform::last_error;

    loop {
        // SAFETY: the descriptor is open as long as it is borrowed, and the command takes no
        // argument.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_BARRIERFSYNC) } != -1 {
            return Ok(());
        }
        match last_error() {
            Errno(libc::EINTR) => {}
            error => return Err(error),
        }
    }
}

/// Flushes a file with all its metadata.
#[cfg(not(target_vendor = "apple"))]
pub(in crate::sys) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    fsync(file)
}

/// Flushes a file as far as `fsync` does. An interrupted call is repeated.
///
/// `fsync`, [fsync(2)](https://www.manpagez.com/man/2/fsync/)
fn fsync(file: BorrowedFile<'_>) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fsync(file)).map_err(errno)
}

/// Flushes a file with all its metadata: macOS has no call that reaches the disk and leaves
/// metadata out.
pub(in crate::sys) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    flush_file(file)
}

/// Flushes the names in a directory.
pub(in crate::sys) fn flush_directory(directory: BorrowedFile<'_>) -> Result<(), Errno> {
    flush_file(directory)
}
