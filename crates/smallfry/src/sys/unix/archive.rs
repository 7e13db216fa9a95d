//! Unix: calls that only archives need.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Reads at a position, and leaves that of the open file as it is.
///
/// `pread`, [pread(2)](https://man7.org/linux/man-pages/man2/pread.2.html)
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    file.read_at(buffer, position)
}

/// Makes a path of the bytes in an archive.
#[allow(
    clippy::unnecessary_wraps,
    reason = "not all bytes are a path on Windows"
)]
pub(crate) fn path_from(bytes: Vec<u8>) -> io::Result<PathBuf> {
    Ok(OsString::from_vec(bytes).into())
}

/// Returns the moment of a local date: a year, and month, day, hour, minute and second. `None` for
/// one before 1970.
///
/// `mktime`, [mktime(3)](https://man7.org/linux/man-pages/man3/mktime.3p.html)
pub(crate) fn local_time(
    year: u16,
    [month, day, hour, minute, second]: [u8; 5],
) -> Option<SystemTime> {
    // SAFETY: all fields of `tm` are integers, or a pointer that may be null.
    let mut date: libc::tm = unsafe { std::mem::zeroed() };
    date.tm_year = i32::from(year) - 1900;
    date.tm_mon = i32::from(month) - 1;
    date.tm_mday = day.into();
    date.tm_hour = hour.into();
    date.tm_min = minute.into();
    date.tm_sec = second.into();
    // Not known, so the system finds out whether it was summer time.
    date.tm_isdst = -1;
    // SAFETY: the pointer is that of a whole `tm`, which is written to.
    let seconds = unsafe { libc::mktime(&raw mut date) };
    let since = u64::try_from(seconds).ok().map(Duration::from_secs)?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}
