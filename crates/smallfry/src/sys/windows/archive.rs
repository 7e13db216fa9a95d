//! Windows: calls that only archives need.

use std::os::windows::io::AsHandle as _;
use std::ptr;
use std::time::{Duration, SystemTime};

use windows_sys::Wdk::Storage::FileSystem::FILE_OPEN_REPARSE_POINT;
use windows_sys::Win32::Foundation::{FILETIME, SYSTEMTIME};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES,
};
use windows_sys::Win32::System::Time::{
    FileTimeToSystemTime, SystemTimeToFileTime, SystemTimeToTzSpecificLocalTime,
    TzSpecificLocalTimeToSystemTime,
};

use super::attributes::set_basic;
use super::entry::{PER_SECOND, UNIX_EPOCH};
use super::names::Name;
use super::open_directory::OpenDirectory;
use crate::errno::Errno;

/// Returns the local date of a moment, in seconds since 1970: year, month, day, hour, minute and
/// second.
///
/// `SystemTimeToTzSpecificLocalTime`,
/// [SystemTimeToTzSpecificLocalTime](https://learn.microsoft.com/windows/win32/api/timezoneapi/nf-timezoneapi-systemtimetotzspecificlocaltime)
pub(crate) fn local_date(seconds: u64) -> Option<[u16; 6]> {
    let units = i64::try_from(seconds).ok()?.checked_mul(PER_SECOND)?;
    let units = units.checked_add(UNIX_EPOCH)?.cast_unsigned();
    let time = FILETIME {
        dwLowDateTime: units as u32,
        dwHighDateTime: (units >> 32) as u32,
    };
    let mut date = SYSTEMTIME::default();
    // SAFETY: both pointers are those of whole values, and the second one is written to.
    if unsafe { FileTimeToSystemTime(&raw const time, &raw mut date) } == 0 {
        return None;
    }
    let mut local = SYSTEMTIME::default();
    // SAFETY: the first pointer may be null, which means the time zone of the system. The others
    // are those of whole values, and the last one is written to.
    let done =
        unsafe { SystemTimeToTzSpecificLocalTime(ptr::null(), &raw const date, &raw mut local) };
    (done != 0).then_some([
        local.wYear,
        local.wMonth,
        local.wDay,
        local.wHour,
        local.wMinute,
        local.wSecond,
    ])
}

/// Returns the moment of a local date: a year, and month, day, hour, minute and second. `None` for
/// one before 1970.
///
/// `TzSpecificLocalTimeToSystemTime`,
/// [TzSpecificLocalTimeToSystemTime](https://learn.microsoft.com/windows/win32/api/timezoneapi/nf-timezoneapi-tzspecificlocaltimetosystemtime)
pub(crate) fn local_time(
    year: u16,
    [month, day, hour, minute, second]: [u8; 5],
) -> Option<SystemTime> {
    let local = SYSTEMTIME {
        wYear: year,
        wMonth: month.into(),
        wDay: day.into(),
        wHour: hour.into(),
        wMinute: minute.into(),
        wSecond: second.into(),
        ..SYSTEMTIME::default()
    };
    let mut date = SYSTEMTIME::default();
    // SAFETY: the first pointer may be null, which means the time zone of the system. The others
    // are those of whole values, and the last one is written to.
    let done =
        unsafe { TzSpecificLocalTimeToSystemTime(ptr::null(), &raw const local, &raw mut date) };
    if done == 0 {
        return None;
    }
    let mut time = FILETIME::default();
    // SAFETY: both pointers are those of whole values, and the second one is written to.
    if unsafe { SystemTimeToFileTime(&raw const date, &raw mut time) } == 0 {
        return None;
    }
    let units = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    let since = units.checked_sub(UNIX_EPOCH.cast_unsigned())?;
    let since = Duration::from_secs(since / PER_SECOND.cast_unsigned());
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Makes the time of modification of an entry. The others stay.
fn modified(time: SystemTime) -> FILE_BASIC_INFO {
    let units = |distance: Duration| i64::try_from(distance.as_nanos() / 100).unwrap_or(i64::MAX);
    let units = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => units(since),
        Err(before) => -units(before.duration()),
    };
    FILE_BASIC_INFO {
        // No number below 1 is a time.
        LastWriteTime: units.saturating_add(UNIX_EPOCH).max(1),
        ..FILE_BASIC_INFO::default()
    }
}

impl OpenDirectory {
    /// Sets the time of modification of this directory.
    pub(crate) fn set_modified(&self, time: SystemTime) -> Result<(), Errno> {
        let file = self.reopen(FILE_WRITE_ATTRIBUTES)?;
        set_basic(file.as_handle(), &modified(time))
    }

    /// Sets the time of modification of an entry. Of a link it sets that of the link itself.
    pub(crate) fn set_modified_of(&self, name: &Name, time: SystemTime) -> Result<(), Errno> {
        let access = FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;
        let file = self.open_entry(name, access, FILE_OPEN_REPARSE_POINT)?;
        set_basic(file.as_handle(), &modified(time))
    }
}
