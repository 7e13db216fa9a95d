//! Windows: making written files durable.

use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::FlushFileBuffers;

use super::platform::{BorrowedFile, OwnedFile};
use crate::errno::Errno;

pub(crate) use crate::sys::file_by_file::{WholeFileSystem, begin_flush, unwritten_bytes};

/// False: a directory cannot be flushed. NTFS has the names in its log, and a rename can wait for
/// it.
pub(crate) const FLUSHES_DIRECTORIES: bool = false;

/// The flags that a file must be opened with to be flushed, besides other flags.
pub(crate) const FLUSHABLE: i32 = super::platform::O_RDWR;

/// No flag: no directory is opened to be flushed.
pub(crate) const O_DIRECTORY: i32 = 0;

/// Flushes the contents of a file and its metadata. The handle must be open for writing.
///
/// `FlushFileBuffers`,
/// [FlushFileBuffers](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-flushfilebuffers)
pub(crate) fn flush_file(file: BorrowedFile<'_>) -> Result<(), Errno> {
    // SAFETY: the handle is open as long as it is borrowed.
    if unsafe { FlushFileBuffers(file.as_raw_handle()) } != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(Errno(error.raw_os_error().unwrap_or_default()))
}

/// Flushes a file with all its metadata: Windows has no call that leaves metadata out.
pub(crate) fn flush_contents(file: BorrowedFile<'_>) -> Result<(), Errno> {
    flush_file(file)
}

/// Does nothing, and is never called.
pub(crate) fn flush_directory(_directory: &OwnedFile) -> io::Result<()> {
    Ok(())
}
