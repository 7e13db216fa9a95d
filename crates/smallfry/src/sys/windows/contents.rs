//! Windows: copying the contents of an open file without reading all of them. No such way is used,
//! so contents are read and written.

#[cfg(any(feature = "archive", feature = "hash"))]
use std::fs::File;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::io;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::os::windows::fs::FileExt as _;

use windows_sys::Win32::Foundation::ERROR_NOT_SUPPORTED;

use super::nt::code;
use super::platform::BorrowedFile;
use crate::errno::Errno;

/// Returns `ERROR_NOT_SUPPORTED`: only ReFS clones blocks.
pub(crate) fn clone_file(_from: BorrowedFile<'_>, _to: BorrowedFile<'_>) -> Result<(), Errno> {
    Err(code(ERROR_NOT_SUPPORTED))
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

/// Reads at a position. It moves that of the open file.
///
/// `ReadFile`,
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    file.seek_read(buffer, position)
}
