//! Unix: calls that only archives need.

use std::time::{Duration, SystemTime};

use rustix::fs::{self, AtFlags, Timespec, Timestamps};

use super::names::Name;
use super::open_directory::OpenDirectory;
use super::platform::errno;
use crate::errno::Errno;

/// Returns the local date of a moment, in seconds since 1970: year, month, day, hour, minute and
/// second.
///
/// `localtime_r`, [localtime(3)](https://man7.org/linux/man-pages/man3/localtime_r.3p.html)
pub(crate) fn local_date(seconds: u64) -> Option<[u16; 6]> {
    let seconds = seconds.try_into().ok()?;
    // SAFETY: all fields of `tm` are integers, or a pointer that may be null.
    let mut date: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are those of whole values, and the second one is written to.
    let found = unsafe { libc::localtime_r(&raw const seconds, &raw mut date) };
    if found.is_null() {
        return None;
    }
    let parts = [
        date.tm_year + 1900,
        date.tm_mon + 1,
        date.tm_mday,
        date.tm_hour,
        date.tm_min,
        date.tm_sec,
    ];
    let mut found = [0; 6];
    for (found, part) in found.iter_mut().zip(parts) {
        *found = u16::try_from(part).ok()?;
    }
    Some(found)
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

/// Makes the times of an entry: that of modification, and the old one of access.
fn modified(time: SystemTime) -> Timestamps {
    let seconds = |distance: Duration| i64::try_from(distance.as_secs()).unwrap_or(i64::MAX);
    let (tv_sec, nanoseconds) = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => (seconds(since), since.subsec_nanos()),
        Err(before) => match (before.duration(), before.duration().subsec_nanos()) {
            (until, 0) => (-seconds(until), 0),
            // Nanoseconds count forwards.
            (until, rest) => (-seconds(until) - 1, 1_000_000_000 - rest),
        },
    };
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: fs::UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec,
            tv_nsec: nanoseconds.into(),
        },
    }
}

impl OpenDirectory {
    /// Sets the time of modification of this directory.
    ///
    /// `futimens`, [futimens(3)](https://man7.org/linux/man-pages/man3/futimens.3.html)
    pub(crate) fn set_modified(&self, time: SystemTime) -> Result<(), Errno> {
        fs::futimens(&self.0, &modified(time)).map_err(errno)
    }

    /// Sets the time of modification of an entry. Of a link it sets that of the link itself.
    ///
    /// `utimensat`, [utimensat(2)](https://man7.org/linux/man-pages/man2/utimensat.2.html)
    pub(crate) fn set_modified_of(&self, name: &Name, time: SystemTime) -> Result<(), Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        fs::utimensat(&self.0, name, &modified(time), flags).map_err(errno)
    }
}
