//! Windows: calls of the kernel that start at an open directory, which no function of Win32 does.

use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_INFORMATION_CLASS, FILE_OPEN, FILE_OPEN_FOR_BACKUP_INTENT, FILE_RENAME_INFORMATION,
    FILE_RENAME_INFORMATION_0, FILE_SYNCHRONOUS_IO_NONALERT, NtCreateFile, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_REPARSE_POINT_ENCOUNTERED, NTSTATUS, OBJ_CASE_INSENSITIVE, OBJ_DONT_REPARSE,
    RtlNtStatusToDosError, STATUS_NAME_TOO_LONG, STATUS_REPARSE_POINT_ENCOUNTERED, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::platform::{BorrowedFile, OwnedFile};
use crate::errno::Errno;

/// The sharing mode that lets other programs read, write and delete the file.
pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// The arguments for opening a file.
pub(super) struct Request {
    pub(super) access: u32,
    pub(super) sharing: u32,
    pub(super) disposition: u32,
    pub(super) options: u32,
    pub(super) attributes: u32,
}

impl Request {
    /// Requests a file that is there.
    pub(super) const fn existing(access: u32, options: u32) -> Self {
        Self {
            access,
            sharing: SHARE_ALL,
            disposition: FILE_OPEN,
            options,
            attributes: FILE_ATTRIBUTE_NORMAL,
        }
    }

    /// Opens or creates the file at `path`, which starts at `directory`. It is in the form of the
    /// kernel: names with one backslash between, without `.` and `..`. The empty path is that of
    /// the directory itself. A link on the way is an error, unless it is the last name and the
    /// options are to open it itself.
    ///
    /// `NtCreateFile` with `OBJ_DONT_REPARSE`,
    /// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
    pub(super) fn open(
        &self,
        directory: BorrowedFile<'_>,
        path: &mut [u16],
    ) -> Result<OwnedFile, NTSTATUS> {
        let bytes = bytes_of(path)?;
        let name = UNICODE_STRING {
            Length: bytes,
            MaximumLength: bytes,
            Buffer: path.as_mut_ptr(),
        };
        let attributes = OBJECT_ATTRIBUTES {
            Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
            RootDirectory: directory.as_raw_handle(),
            ObjectName: &raw const name,
            Attributes: OBJ_CASE_INSENSITIVE | OBJ_DONT_REPARSE,
            SecurityDescriptor: ptr::null(),
            SecurityQualityOfService: ptr::null(),
        };
        let mut handle = ptr::null_mut();
        let mut status_block = IO_STATUS_BLOCK::default();
        // SAFETY: the directory's handle is open. The attributes, the name they point to and its
        // text outlive the call, which only reads them. The handle and the status block are
        // borrowed for writing.
        let status = unsafe {
            NtCreateFile(
                &raw mut handle,
                self.access | SYNCHRONIZE,
                &raw const attributes,
                &raw mut status_block,
                ptr::null(),
                self.attributes,
                self.sharing,
                self.disposition,
                self.options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT,
                ptr::null(),
                0,
            )
        };
        if status < 0 {
            return Err(status);
        }
        // SAFETY: the system has just returned this handle, so it is open and not owned elsewhere.
        Ok(unsafe { OwnedFile::from_raw_handle(handle) })
    }
}

/// Gives an open file the name `name` in `directory`: another one, or instead of its own. `class`
/// says which, and what the flags mean.
///
/// `NtSetInformationFile`,
/// [FILE_RENAME_INFORMATION](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_rename_information),
/// [FILE_LINK_INFORMATION](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_link_information)
pub(super) fn set_name(
    file: BorrowedFile<'_>,
    class: FILE_INFORMATION_CLASS,
    flags: u32,
    directory: BorrowedFile<'_>,
    name: &[u16],
) -> Result<(), NTSTATUS> {
    const TEXT: usize = std::mem::offset_of!(FILE_RENAME_INFORMATION, FileName);
    let text_bytes = bytes_of(name)?;
    let length = (TEXT + usize::from(text_bytes)).max(size_of::<FILE_RENAME_INFORMATION>());
    // Both structures have the same fields at the same places. The memory is aligned for them.
    let mut memory = vec![0_u64; length.div_ceil(size_of::<u64>())];
    let head = FILE_RENAME_INFORMATION {
        Anonymous: FILE_RENAME_INFORMATION_0 { Flags: flags },
        RootDirectory: directory.as_raw_handle(),
        FileNameLength: text_bytes.into(),
        FileName: [0],
    };
    let start = memory.as_mut_ptr();
    // SAFETY: the memory has room for the structure, and from `TEXT` on for the text, whose place
    // is aligned for its characters. Nothing else refers to it.
    unsafe {
        start.cast::<FILE_RENAME_INFORMATION>().write(head);
        let text = start.cast::<u8>().add(TEXT).cast::<u16>();
        text.copy_from_nonoverlapping(name.as_ptr(), name.len());
    }
    let length = u32::try_from(length).map_err(|_| STATUS_NAME_TOO_LONG)?;
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: both handles are open as long as they are borrowed. The memory holds a structure of
    // that many bytes, which is only read. The status block is borrowed for writing.
    let status = unsafe {
        NtSetInformationFile(
            file.as_raw_handle(),
            &raw mut status_block,
            start.cast_const().cast(),
            length,
            class,
        )
    };
    if status < 0 { Err(status) } else { Ok(()) }
}

/// Returns the error of Win32 for a status of the kernel.
#[cold]
pub(super) fn errno(status: NTSTATUS) -> Errno {
    match status {
        // Not every version knows this one.
        STATUS_REPARSE_POINT_ENCOUNTERED => code(ERROR_REPARSE_POINT_ENCOUNTERED),
        // SAFETY: has no preconditions.
        _ => code(unsafe { RtlNtStatusToDosError(status) }),
    }
}

/// Returns an error of Win32.
pub(super) const fn code(number: u32) -> Errno {
    Errno(number.cast_signed())
}

/// Returns the error of the last call of Win32 on this thread.
#[cold]
pub(super) fn last_error() -> Errno {
    let error = std::io::Error::last_os_error();
    Errno(error.raw_os_error().unwrap_or_default())
}

fn bytes_of(text: &[u16]) -> Result<u16, NTSTATUS> {
    u16::try_from(size_of_val(text)).map_err(|_| STATUS_NAME_TOO_LONG)
}
