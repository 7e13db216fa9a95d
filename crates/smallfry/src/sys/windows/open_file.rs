//! Windows: what can be asked of an open file before it is closed.

use std::os::windows::io::AsRawHandle;
use std::path::PathBuf;
use std::ptr;

use windows_sys::Wdk::Foundation::{NtQueryObject, ObjectBasicInformation};
use windows_sys::Win32::Storage::FileSystem::{FILE_APPEND_DATA, FILE_WRITE_DATA};
use windows_sys::Win32::System::WindowsProgramming::PUBLIC_OBJECT_BASIC_INFORMATION;

use super::platform::BorrowedFile;

/// All are one: it is the scanner that makes closing slow, and it watches all of them.
pub(crate) fn device_of(_file: BorrowedFile<'_>) -> Option<u64> {
    Some(0)
}

/// None is flushed whole, so nobody needs to know.
pub(crate) fn device_of_regular(_file: BorrowedFile<'_>) -> Option<u64> {
    None
}

/// `CloseHandle` fails for what is no open handle only.
///
/// [CloseHandle](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle)
pub(crate) fn reports_at_close(_file: BorrowedFile<'_>) -> bool {
    false
}

/// Whether a file is open for writing; true where the system does not tell.
///
/// [NtQueryObject](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntqueryobject)
pub(crate) fn is_writable(file: BorrowedFile<'_>) -> bool {
    let mut told = PUBLIC_OBJECT_BASIC_INFORMATION::default();
    // SAFETY: the handle is open as long as it is borrowed, and the answer has room in `told`, whose size is given.
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

/// Nobody needs it, as nothing is reported.
pub(crate) fn path_of(_file: BorrowedFile<'_>) -> Option<PathBuf> {
    None
}
