//! Windows: thin layers over std, and over windows-sys where std hides an error.
//!
//! [`std::fs::OpenOptions`] calls `CreateFileW`. It shares the file for reading, writing and
//! deletion, gives long paths their `\\?\` prefix, and truncates an existing file without losing
//! its attributes. [`std::fs::File`] reads and writes, also files opened for overlapped I/O. Flags
//! have the numbers of the C runtime and of Node's `fs.constants`.

use std::ffi::CStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_BROKEN_PIPE, ERROR_DIRECTORY, ERROR_HANDLE_EOF, ERROR_INVALID_NAME,
    ERROR_INVALID_PARAMETER, ERROR_TOO_MANY_OPEN_FILES,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY, FILE_TYPE_DISK,
    GetFileInformationByHandle, GetFileType,
};

use super::Status;
use crate::errno::Errno;

/// An open file that closes when dropped and ignores the error of closing; [`close`] returns it.
pub type OwnedFile = std::os::windows::io::OwnedHandle;

/// A borrowed open file.
pub type BorrowedFile<'file> = std::os::windows::io::BorrowedHandle<'file>;

/// A type that holds an open file: [`std::fs::File`], standard output, a pipe.
pub use std::os::windows::io::AsHandle as AsFile;

/// Opens for reading.
pub const O_RDONLY: i32 = 0;
/// Opens for writing.
pub const O_WRONLY: i32 = 1;
/// Opens for reading and writing.
pub const O_RDWR: i32 = 2;
/// Makes every write go to the current end of the file.
pub const O_APPEND: i32 = 0x8;
/// Creates the file if it is missing.
pub const O_CREAT: i32 = 0x100;
/// With [`O_CREAT`]: fails if the file exists, even as a dangling symbolic link.
pub const O_EXCL: i32 = 0x400;
/// Truncates the file to nothing when it is opened.
pub const O_TRUNC: i32 = 0x200;
/// Does nothing on Windows.
pub const O_NONBLOCK: i32 = 0;

/// The bits of the flags that choose between reading and writing.
pub(super) const ACCESS: i32 = O_WRONLY | O_RDWR;

/// The bit of a mode that lets the owner write.
pub(super) const OWNER_WRITES: u32 = 0o200;

/// The error for a file where the system wants a directory.
pub(crate) const NOT_A_DIRECTORY: Errno = Errno(ERROR_DIRECTORY.cast_signed());

/// True: Windows takes some names for devices and alters others.
pub(crate) const RESERVES_NAMES: bool = true;

/// True: a removed file may keep its name until the last handle is closed. Its directory cannot be
/// renamed until then.
pub(crate) const OPEN_FILES_ARE_IN_THE_WAY: bool = true;

/// True: [`std::fs::copy`] copies streams and attributes too, and reports errors of closing.
///
/// `CopyFileExW`,
/// [CopyFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-copyfileexw)
pub(crate) const COPIES_BY_PATH: bool = true;

/// Copies a file as [`std::fs::copy`] does, and returns its length.
///
/// std takes the length from the system's reports of progress. Older versions of Wine report none,
/// so the length of a copy without bytes is read from the file.
///
/// `CopyFileExW`,
/// [CopyFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-copyfileexw)
pub(crate) fn copy_by_path(from: &Path, to: &Path) -> io::Result<u64> {
    match std::fs::copy(from, to)? {
        0 => Ok(std::fs::metadata(to)?.len()),
        length => Ok(length),
    }
}

/// True: names that differ only in case are one file, unless a directory is set to tell them apart.
pub(crate) const FOLDS_CASE: bool = true;

/// Borrows the file that `file` holds. It makes no system call.
#[inline]
pub fn borrow(file: &impl AsFile) -> BorrowedFile<'_> {
    file.as_handle()
}

/// Opens `path`, which is UTF-8, with the `O_` flags of this module. Of `mode` only the owner's
/// write permission counts, and only if the file is created.
///
/// `CreateFileW`,
/// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
#[inline]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
    let path = path
        .to_str()
        .map_err(|_| Errno(ERROR_INVALID_NAME.cast_signed()))?;
    open_path(Path::new(path), flags, mode).map_err(|error| errno(&error))
}

/// Opens `path` as [`open`] does. A path with a NUL inside is refused with `InvalidInput`.
///
/// `CreateFileW`,
/// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
pub(crate) fn open_path(path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
    let has = |flag: i32| flags & flag != 0;
    let mut options = OpenOptions::new();
    options
        .read(flags & ACCESS != O_WRONLY)
        .write(flags & ACCESS != O_RDONLY)
        .truncate(has(O_TRUNC))
        .create(has(O_CREAT))
        .create_new(has(O_CREAT) && has(O_EXCL));
    // std refuses to append to a file that it truncates, since appending needs less permission. The
    // file is empty then, so writing at its position has the same effect.
    options.append(has(O_APPEND) && !has(O_TRUNC));
    if has(O_CREAT) && mode & OWNER_WRITES == 0 {
        options.attributes(FILE_ATTRIBUTE_READONLY);
    }
    options.open(path).map(OwnedFile::from)
}

/// Writes some of `bytes` at the file's position and returns how many.
///
/// `WriteFile`,
/// [WriteFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-writefile)
#[inline]
pub fn write(file: BorrowedFile<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    with_file(file, |mut file| file.write(bytes)).map_err(|error| errno(&error))
}

/// Reads once, from the file's position, and returns the filled part of `buffer`. If `buffer` is
/// not empty, an empty part means the end of the file, or that the other end of a pipe is closed.
///
/// `ReadFile`,
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[inline]
pub fn read<'buffer>(
    file: BorrowedFile<'_>,
    buffer: &'buffer mut [MaybeUninit<u8>],
) -> Result<&'buffer mut [u8], Errno> {
    // std takes initialised memory only. Zeroing it costs little beside a system call on Windows.
    buffer.fill(MaybeUninit::new(0));
    // SAFETY: every byte has just been given a value.
    let buffer =
        unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast::<u8>(), buffer.len()) };
    match with_file(file, |mut file| file.read(buffer)) {
        Ok(count) => Ok(&mut buffer[..count]),
        Err(error) => match errno(&error) {
            Errno(number) if is_end(number.cast_unsigned()) => Ok(&mut []),
            error => Err(error),
        },
    }
}

const fn is_end(error: u32) -> bool {
    matches!(error, ERROR_BROKEN_PIPE | ERROR_HANDLE_EOF)
}

/// Reads once into the spare capacity of `buffer`, and returns how many bytes were added.
///
/// `ReadFile`,
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[inline]
pub(crate) fn read_spare(file: BorrowedFile<'_>, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    let count = read(file, buffer.spare_capacity_mut())?.len();
    // SAFETY: `read` has initialised that many bytes from the old length on, within the capacity.
    unsafe { buffer.set_len(buffer.len() + count) };
    Ok(count)
}

/// Returns the size and kind of an open file. A file that is not on a disk has size 0.
///
/// `GetFileInformationByHandle`,
/// [GetFileInformationByHandle](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfileinformationbyhandle)
#[inline]
pub fn status(file: BorrowedFile<'_>) -> Result<Status, Errno> {
    let handle = file.as_raw_handle();
    // SAFETY: the handle is borrowed, hence open.
    if unsafe { GetFileType(handle) } != FILE_TYPE_DISK {
        return Ok(Status::new(0, false, false));
    }
    let information = information(file)?;
    let size = u64::from(information.nFileSizeHigh) << 32 | u64::from(information.nFileSizeLow);
    let is_directory = information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY != 0;
    Ok(Status::new(size, !is_directory, is_directory))
}

/// Returns what the system knows of an open file.
///
/// `GetFileInformationByHandle`,
/// [GetFileInformationByHandle](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfileinformationbyhandle)
#[inline]
pub(super) fn information(file: BorrowedFile<'_>) -> Result<BY_HANDLE_FILE_INFORMATION, Errno> {
    let mut information = MaybeUninit::<BY_HANDLE_FILE_INFORMATION>::uninit();
    // SAFETY: the handle is open as long as it is borrowed, and the structure is large enough and
    // borrowed for writing.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), information.as_mut_ptr()) } == 0 {
        return Err(errno(&io::Error::last_os_error()));
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    Ok(unsafe { information.assume_init() })
}

/// Returns the mode to create a file with, for it to have these permissions.
pub(crate) fn mode_of(permissions: &Permissions) -> u32 {
    if permissions.readonly() { 0o444 } else { 0o666 }
}

/// Closes the file and returns the error that dropping it would hide.
///
/// `CloseHandle`,
/// [CloseHandle](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle)
#[inline]
pub fn close(file: OwnedFile) -> Result<(), Errno> {
    // SAFETY: the handle is owned and given up here, so it is neither used nor closed after this.
    if unsafe { CloseHandle(file.into_raw_handle()) } == 0 {
        Err(errno(&io::Error::last_os_error()))
    } else {
        Ok(())
    }
}

impl Errno {
    /// Returns true if the process or the system has as many files open as it may. The error passes
    /// when some are closed.
    ///
    /// [System error codes](https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-)
    pub const fn is_out_of_descriptors(self) -> bool {
        self.0.cast_unsigned() == ERROR_TOO_MANY_OPEN_FILES
    }
}

/// Calls `work` with a borrowed handle as std's type for files.
#[inline]
fn with_file<T>(file: BorrowedFile<'_>, work: impl FnOnce(&File) -> T) -> T {
    // SAFETY: the handle is open as long as it is borrowed, which is longer than this call. It is
    // not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_handle(file.as_raw_handle()) });
    work(&file)
}

/// Returns the number of an error of std.
#[cold]
fn errno(error: &io::Error) -> Errno {
    // Errors of std itself have no number: a NUL in a path, flags that exclude each other.
    let invalid = ERROR_INVALID_PARAMETER.cast_signed();
    Errno(error.raw_os_error().unwrap_or(invalid))
}
