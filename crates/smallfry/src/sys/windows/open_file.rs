//! Windows: questions about a file before it is closed.

use std::os::windows::io::AsRawHandle;
use std::path::PathBuf;
use std::ptr;

use windows_sys::Wdk::Foundation::{NtQueryObject, ObjectBasicInformation};
use windows_sys::Win32::Storage::FileSystem::{FILE_APPEND_DATA, FILE_WRITE_DATA};
use windows_sys::Win32::System::WindowsProgramming::PUBLIC_OBJECT_BASIC_INFORMATION;

use super::platform::BorrowedFile;

/// Returns one number for all file systems: a scanner makes closing slow, and it watches all of
/// them.
pub(crate) fn device_of(_file: BorrowedFile<'_>) -> Option<u64> {
    Some(0)
}

/// Returns `None`: no file system is flushed whole, so the number is not needed.
pub(crate) fn device_of_regular(_file: BorrowedFile<'_>) -> Option<u64> {
    None
}

/// Returns false: closing fails only for a value that is no open handle.
///
/// `CloseHandle`,
/// [CloseHandle](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle)
pub(crate) fn reports_at_close(_file: BorrowedFile<'_>) -> bool {
    false
}

/// Returns true if a file is open for writing, or if the system does not tell.
///
/// `NtQueryObject`,
/// [NtQueryObject](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntqueryobject)
pub(crate) fn is_writable(file: BorrowedFile<'_>) -> bool {
    let mut told = PUBLIC_OBJECT_BASIC_INFORMATION::default();
    // SAFETY: the handle is open as long as it is borrowed. The answer fits into `told`, whose size
    // is given.
    let status = unsafe {
        NtQueryObject(
            file.as_raw_handle(),
            ObjectBasicInformation,
            (&raw mut told).cast(),
            size_of::<PUBLIC_OBJECT_BASIC_INFORMATION>() as u32,
            ptr::null_mut(),
        )
    };
    status < 0 || told.GrantedAccess & (FILE_WRITE_DATA | FILE_APPEND_DATA) != 0
}

/// Returns `None`: no error of closing is reported, so the path is not needed.
pub(crate) fn path_of(_file: BorrowedFile<'_>) -> Option<PathBuf> {
    None
}
