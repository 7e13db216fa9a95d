//! Windows: removing what is open, and not what has its name by then.

use std::os::windows::io::{AsHandle, AsRawHandle};

use windows_sys::Wdk::Storage::FileSystem::FILE_OPEN_REPARSE_POINT;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CALL_NOT_IMPLEMENTED, ERROR_INVALID_FUNCTION,
    ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_DISPOSITION_FLAG_DELETE, FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE,
    FILE_DISPOSITION_FLAG_POSIX_SEMANTICS, FILE_DISPOSITION_INFO, FILE_DISPOSITION_INFO_EX,
    FILE_INFO_BY_HANDLE_CLASS, FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES, FileDispositionInfo,
    FileDispositionInfoEx, SetFileInformationByHandle,
};

use super::entry::{EntryStatus, clear_read_only, entry_status, restore_attributes};
use super::nt::{self, Request, code, last_error};
use super::platform::{BorrowedFile, OwnedFile};
use crate::errno::Errno;

/// Removes an open file, link or empty directory, which must be open for `DELETE`. A read-only one
/// is removed as well.
///
/// Its name is gone when the call returns, even if other programs have it open. On file systems
/// that cannot do that (FAT, some servers), it is gone when all of them have closed it.
///
/// `SetFileInformationByHandle` with `FILE_DISPOSITION_INFO_EX`,
/// [FILE_DISPOSITION_INFORMATION_EX](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddk/ns-ntddk-_file_disposition_information_ex)
pub(super) fn remove(file: BorrowedFile<'_>) -> Result<(), Errno> {
    let wanted = FILE_DISPOSITION_INFO_EX {
        Flags: FILE_DISPOSITION_FLAG_DELETE
            | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS
            | FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE,
    };
    // SAFETY: the class is that of the structure.
    match unsafe { set(file, FileDispositionInfoEx, &wanted) } {
        Err(error) if is_unsupported(error) => remove_when_closed(file),
        done => done,
    }
}

/// The maximum number of times that a read-only file is tried to be removed. Other threads may
/// clear and restore its attributes meanwhile, to remove other names of it.
const MAX_TRIES: u32 = 16;

/// Removes an open file, link or empty directory when the last handle of it is closed.
fn remove_when_closed(file: BorrowedFile<'_>) -> Result<(), Errno> {
    let denied = Err(code(ERROR_ACCESS_DENIED));
    for _ in 1..MAX_TRIES {
        let mut removed = remove_writable(file);
        if removed == denied {
            let status = entry_status(file)?;
            if status.is_read_only() {
                removed = remove_read_only(file, &status);
            }
        }
        if removed != denied {
            return removed;
        }
    }
    remove_writable(file)
}

/// Removes what is not read-only.
///
/// `SetFileInformationByHandle` with `FILE_DISPOSITION_INFO`,
/// [FILE_DISPOSITION_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_disposition_info)
fn remove_writable(file: BorrowedFile<'_>) -> Result<(), Errno> {
    let wanted = FILE_DISPOSITION_INFO { DeleteFile: true };
    // SAFETY: the class is that of the structure.
    unsafe { set(file, FileDispositionInfo, &wanted) }
}

/// Removes what is read-only. Other names of the file stay read-only.
fn remove_read_only(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    let writable = reopen(file, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES)?;
    clear_read_only(writable.as_handle())?;
    let removed = remove_writable(file);
    if removed.is_err() || status.names > 1 {
        // Where that is refused, the removal is done nevertheless, or has an error already.
        _ = restore_attributes(writable.as_handle(), status);
    }
    removed
}

/// Opens what is open already again, for other access.
///
/// `NtCreateFile` with the empty path,
/// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
pub(super) fn reopen(file: BorrowedFile<'_>, access: u32) -> Result<OwnedFile, Errno> {
    let request = Request::existing(access, FILE_OPEN_REPARSE_POINT);
    request.open(file, &mut []).map_err(nt::errno)
}

/// Returns true for the error of a request that this version or file system does not have.
pub(super) fn is_unsupported(error: Errno) -> bool {
    matches!(
        error.0.cast_unsigned(),
        ERROR_INVALID_FUNCTION
            | ERROR_NOT_SUPPORTED
            | ERROR_INVALID_PARAMETER
            | ERROR_CALL_NOT_IMPLEMENTED
    )
}

/// Passes a structure to an open file.
///
/// # Safety
///
/// `T` is the structure of `class`.
unsafe fn set<T>(
    file: BorrowedFile<'_>,
    class: FILE_INFO_BY_HANDLE_CLASS,
    wanted: &T,
) -> Result<(), Errno> {
    // SAFETY: the handle is open as long as it is borrowed. The structure has the size that is told
    // and is only read.
    let done = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            class,
            std::ptr::from_ref(wanted).cast(),
            size_of::<T>() as u32,
        )
    };
    if done == 0 {
        return Err(last_error());
    }
    Ok(())
}
