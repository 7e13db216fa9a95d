//! Windows: what a file has besides its contents, given to the one that is to take its place.

use std::io;
use std::mem::MaybeUninit;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FileBasicInfo, GetFileInformationByHandleEx, SetFileInformationByHandle,
};

use super::platform::BorrowedFile;
use crate::error::Operation;
use crate::raw::Errno;

/// `SetFileInformationByHandle`: gives `draft` the attributes of `old`: hidden, system, archive, not indexed. Its times stay.
///
/// The access control list is the one that a new file has from its directory.
///
/// [FILE_BASIC_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_basic_info)
pub(crate) fn keep_attributes(
    old: BorrowedFile<'_>,
    draft: BorrowedFile<'_>,
) -> Result<(), (Operation, Errno)> {
    let mut found = MaybeUninit::<FILE_BASIC_INFO>::uninit();
    let size = size_of::<FILE_BASIC_INFO>() as u32;
    // SAFETY: the handle is open as long as it is borrowed, and the structure has the size that is told.
    let done = unsafe {
        GetFileInformationByHandleEx(
            old.as_raw_handle(),
            FileBasicInfo,
            found.as_mut_ptr().cast(),
            size,
        )
    };
    if done == 0 {
        return Err((Operation::Fstat, last_error()));
    }
    let wanted = FILE_BASIC_INFO {
        // SAFETY: the call succeeded, so it has filled the structure.
        FileAttributes: unsafe { found.assume_init() }.FileAttributes,
        // Zero leaves a time alone.
        ..FILE_BASIC_INFO::default()
    };
    // SAFETY: the handle is open as long as it is borrowed, and the structure has the size that is told and is only read.
    let done = unsafe {
        SetFileInformationByHandle(
            draft.as_raw_handle(),
            FileBasicInfo,
            (&raw const wanted).cast(),
            size,
        )
    };
    if done == 0 {
        return Err((Operation::Fchmod, last_error()));
    }
    Ok(())
}

fn last_error() -> Errno {
    Errno(
        io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or_default(),
    )
}
