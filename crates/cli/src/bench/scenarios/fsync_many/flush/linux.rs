//! Linux has all of it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Starts writing the file's pages to the device, and with `wait` waits until the device has taken
/// them. The device's own cache and the file's metadata are not flushed.
///
/// `sync_file_range`: <https://man7.org/linux/man-pages/man2/sync_file_range.2.html>.
pub(crate) fn start_writeback(file: &File, wait: bool) -> io::Result<()> {
    let mut flags = libc::SYNC_FILE_RANGE_WRITE;
    if wait {
        flags |= libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    }
    // SAFETY: no memory is involved; the descriptor is open across the call.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes everything on the file system of that file to the device, and reports what went wrong
/// since the file was opened.
///
/// `syncfs`: <https://man7.org/linux/man-pages/man2/syncfs.2.html>.
pub(crate) fn file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// Returns how many files may be open, after asking for as many as is allowed.
///
/// `setrlimit`: <https://man7.org/linux/man-pages/man2/setrlimit.2.html>.
pub(crate) fn max_open() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: maximum,
        maximum,
    };
    let raised = setrlimit(Resource::Nofile, wanted).is_ok();
    let max = if raised { maximum } else { current };
    max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX))
}
