//! Windows: copying the contents of an open file without reading all of them, which only ReFS does.

#[cfg(any(feature = "archive", feature = "hash"))]
use std::fs::File;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::io;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::os::windows::fs::FileExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::ptr;

use windows_sys::Win32::Foundation::ERROR_NOT_SUPPORTED;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_END_OF_FILE_INFO, FileEndOfFileInfo, SetFileInformationByHandle,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    DUPLICATE_EXTENTS_DATA, FSCTL_DUPLICATE_EXTENTS_TO_FILE, FSCTL_GET_INTEGRITY_INFORMATION,
    FSCTL_GET_INTEGRITY_INFORMATION_BUFFER,
};

use super::nt::{code, last_error};
use super::platform::{self, BorrowedFile};
use crate::errno::Errno;

/// The bytes that are cloned at a time: a multiple of each size of a cluster, below the maximum of
/// 4 GiB.
const PIECE: u64 = 1 << 30;

/// Makes an empty file share the blocks of another one on ReFS, until one of both is changed. It
/// is empty again after an error.
///
/// [Block cloning](https://learn.microsoft.com/windows/win32/fileio/block-cloning)
pub(crate) fn clone_file(from: BorrowedFile<'_>, to: BorrowedFile<'_>) -> Result<(), Errno> {
    let cluster = cluster_of(from)?;
    let size = platform::status(from)?.size;
    set_size(to, size)?;
    let cloned = clone_blocks(from, to, size.next_multiple_of(cluster));
    if cloned.is_err() {
        set_size(to, 0)?;
    }
    cloned
}

/// Returns the size of the blocks that are cloned, in bytes. An error on other file systems than
/// ReFS.
///
/// [FSCTL_GET_INTEGRITY_INFORMATION](https://learn.microsoft.com/windows/win32/api/winioctl/ni-winioctl-fsctl_get_integrity_information)
fn cluster_of(file: BorrowedFile<'_>) -> Result<u64, Errno> {
    let mut integrity = FSCTL_GET_INTEGRITY_INFORMATION_BUFFER::default();
    let mut returned = 0;
    // SAFETY: the handle is open as long as it is borrowed. The structure and the number are
    // borrowed for writing, and the structure has the size that is given.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_GET_INTEGRITY_INFORMATION,
            ptr::null(),
            0,
            (&raw mut integrity).cast(),
            size_of_val(&integrity) as u32,
            &raw mut returned,
            ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(last_error());
    }
    match integrity.ClusterSizeInBytes {
        0 => Err(code(ERROR_NOT_SUPPORTED)),
        size => Ok(size.into()),
    }
}

/// Lets two files share the blocks of their first `length` bytes.
///
/// [FSCTL_DUPLICATE_EXTENTS_TO_FILE](https://learn.microsoft.com/windows/win32/api/winioctl/ni-winioctl-fsctl_duplicate_extents_to_file)
fn clone_blocks(from: BorrowedFile<'_>, to: BorrowedFile<'_>, length: u64) -> Result<(), Errno> {
    let mut start = 0;
    while start < length {
        let count = (length - start).min(PIECE);
        let extents = DUPLICATE_EXTENTS_DATA {
            FileHandle: from.as_raw_handle(),
            SourceFileOffset: start.cast_signed(),
            TargetFileOffset: start.cast_signed(),
            ByteCount: count.cast_signed(),
        };
        let mut returned = 0;
        // SAFETY: both handles are open as long as they are borrowed. The structure is only read,
        // and has the size that is given. The number is borrowed for writing.
        let done = unsafe {
            DeviceIoControl(
                to.as_raw_handle(),
                FSCTL_DUPLICATE_EXTENTS_TO_FILE,
                (&raw const extents).cast(),
                size_of_val(&extents) as u32,
                ptr::null_mut(),
                0,
                &raw mut returned,
                ptr::null_mut(),
            )
        };
        if done == 0 {
            return Err(last_error());
        }
        start += count;
    }
    Ok(())
}

/// Cuts a file off, or fills it up with zeros.
///
/// [FILE_END_OF_FILE_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_end_of_file_info)
fn set_size(file: BorrowedFile<'_>, size: u64) -> Result<(), Errno> {
    let end = FILE_END_OF_FILE_INFO {
        EndOfFile: size.cast_signed(),
    };
    // SAFETY: the handle is open as long as it is borrowed. The structure is only read, and has
    // the size that is given.
    let done = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileEndOfFileInfo,
            (&raw const end).cast(),
            size_of_val(&end) as u32,
        )
    };
    if done == 0 { Err(last_error()) } else { Ok(()) }
}

/// Returns `ERROR_NOT_SUPPORTED`: the system has no such call for open files.
pub(crate) fn copy_range(
    _from: BorrowedFile<'_>,
    _to: BorrowedFile<'_>,
    _length: u64,
) -> Result<u64, Errno> {
    Err(code(ERROR_NOT_SUPPORTED))
}

/// Returns `ERROR_NOT_SUPPORTED`, and is never called: no file is taken for one with holes.
pub(crate) fn copy_sparse(
    _from: BorrowedFile<'_>,
    _to: BorrowedFile<'_>,
    _size: u64,
) -> Result<u64, Errno> {
    Err(code(ERROR_NOT_SUPPORTED))
}

/// Returns the whole file, and is never called: no file is taken for one with holes.
#[cfg(feature = "archive")]
#[allow(clippy::unnecessary_wraps, reason = "other systems fail")]
pub(crate) fn data_parts(_file: BorrowedFile<'_>, size: u64) -> Result<Vec<(u64, u64)>, Errno> {
    Ok(vec![(0, size)])
}

/// Reads at a position. It moves that of the open file.
///
/// `ReadFile`,
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    file.seek_read(buffer, position)
}
