//! Windows: std's own where it is as good, windows-sys where std hides an error.
//!
//! `CreateFileW` is called through [`std::fs::OpenOptions`], which shares the file for reading, writing and deletion,
//! gives long paths their `\\?\` prefix, and cuts an existing file without losing its attributes. Reading and writing
//! go through [`std::fs::File`], which also handles files opened for overlapped I/O soundly. Flags are numbered as in
//! the C runtime and as in Node's `fs.constants`.

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

/// An open file that closes when dropped, without telling of an error; [`close`] tells.
pub type OwnedFile = std::os::windows::io::OwnedHandle;

/// An open file that belongs to somebody else.
pub type BorrowedFile<'file> = std::os::windows::io::BorrowedHandle<'file>;

/// Whatever holds an open file: [`std::fs::File`], standard output, a pipe.
pub use std::os::windows::io::AsHandle as AsFile;

/// Open for reading.
pub const O_RDONLY: i32 = 0;
/// Open for writing.
pub const O_WRONLY: i32 = 1;
/// Open for reading and writing.
pub const O_RDWR: i32 = 2;
/// Every write goes to the end of the file as it is then.
pub const O_APPEND: i32 = 0x8;
/// Create the file if it is missing.
pub const O_CREAT: i32 = 0x100;
/// With [`O_CREAT`]: fail if it exists, even as a dangling symbolic link.
pub const O_EXCL: i32 = 0x400;
/// Cut the file to nothing when it is opened.
pub const O_TRUNC: i32 = 0x200;
/// Nothing to ask for on Windows.
pub const O_NONBLOCK: i32 = 0;

pub(super) const ACCESS: i32 = O_WRONLY | O_RDWR;

/// The owner may write, among the bits of a mode.
pub(super) const OWNER_WRITES: u32 = 0o200;

/// What the system says of a file where it wants a directory.
pub(crate) const NOT_A_DIRECTORY: Errno = Errno(ERROR_DIRECTORY.cast_signed());

/// Windows takes some names for devices and alters others.
pub(crate) const RESERVES_NAMES: bool = true;

/// A file that is removed may keep its name until the last handle is closed, and its directory cannot be renamed.
pub(crate) const OPEN_FILES_ARE_IN_THE_WAY: bool = true;

/// [`std::fs::copy`] copies streams and attributes too, and reports what closing reports.
///
/// [CopyFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-copyfileexw)
pub(crate) const COPIES_BY_PATH: bool = true;

/// `CopyFileEx`, by [`std::fs::copy`], which has the length from what the system reports of its progress. Older versions
/// of Wine report none: a copy without bytes is asked for its length.
///
/// [CopyFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-copyfileexw)
pub(crate) fn copy_by_path(from: &Path, to: &Path) -> io::Result<u64> {
    match std::fs::copy(from, to)? {
        0 => Ok(std::fs::metadata(to)?.len()),
        length => Ok(length),
    }
}

/// Names that differ only in case are one file, unless a directory is set to tell them apart.
pub(crate) const FOLDS_CASE: bool = true;

/// The file held by `file`, as a value that costs nothing to pass on. No system call.
#[inline]
pub fn borrow(file: &impl AsFile) -> BorrowedFile<'_> {
    file.as_handle()
}

/// `CreateFileW`: opens `path`, which is UTF-8, with the `O_` flags of this module. Of `mode` only the owner's write
/// permission counts, and only if the file is created.
///
/// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
#[inline]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
    let path = path
        .to_str()
        .map_err(|_| Errno(ERROR_INVALID_NAME.cast_signed()))?;
    open_path(Path::new(path), flags, mode).map_err(|error| errno(&error))
}

/// `CreateFileW` for a path as Rust has it. A path with a NUL inside is refused with `InvalidInput`.
///
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
    // std refuses to append to a file that it cuts, since the first needs less permission than the second. The file is
    // empty then, so writing at its position comes to the same.
    options.append(has(O_APPEND) && !has(O_TRUNC));
    if has(O_CREAT) && mode & OWNER_WRITES == 0 {
        options.attributes(FILE_ATTRIBUTE_READONLY);
    }
    options.open(path).map(OwnedFile::from)
}

/// `WriteFile`: writes some of `bytes` at the file's position and returns how many.
///
/// [WriteFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-writefile)
#[inline]
pub fn write(file: BorrowedFile<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    with_file(file, |mut file| file.write(bytes)).map_err(|error| errno(&error))
}

/// `ReadFile`: reads once, from the file's position, and returns the part of `buffer` that was filled. Empty means the
/// end of the file, if `buffer` is not empty itself; also that the other end of a pipe is closed.
///
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[inline]
pub fn read<'buffer>(
    file: BorrowedFile<'_>,
    buffer: &'buffer mut [MaybeUninit<u8>],
) -> Result<&'buffer mut [u8], Errno> {
    // std takes initialised memory only. To zero it costs little beside a system call of this system.
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

/// `ReadFile`, once, into the room that `buffer` has left; returns how many bytes were added.
///
/// [ReadFile](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-readfile)
#[inline]
pub(crate) fn read_spare(file: BorrowedFile<'_>, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    let count = read(file, buffer.spare_capacity_mut())?.len();
    // SAFETY: `read` has initialised that many bytes from the old length on, within the capacity.
    unsafe { buffer.set_len(buffer.len() + count) };
    Ok(count)
}

/// `GetFileInformationByHandle`: size and kind of an open file. What is not on a disk has size 0.
///
/// [GetFileInformationByHandle](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfileinformationbyhandle)
#[inline]
pub fn status(file: BorrowedFile<'_>) -> Result<Status, Errno> {
    let handle = file.as_raw_handle();
    // SAFETY: the handle is borrowed, hence open.
    if unsafe { GetFileType(handle) } != FILE_TYPE_DISK {
        return Ok(Status::new(0, false, false));
    }
    let mut information = MaybeUninit::<BY_HANDLE_FILE_INFORMATION>::uninit();
    // SAFETY: the handle is open, and the structure is large enough and borrowed for writing.
    if unsafe { GetFileInformationByHandle(handle, information.as_mut_ptr()) } == 0 {
        return Err(errno(&io::Error::last_os_error()));
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let information = unsafe { information.assume_init() };
    let size = u64::from(information.nFileSizeHigh) << 32 | u64::from(information.nFileSizeLow);
    let is_directory = information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY != 0;
    Ok(Status::new(size, !is_directory, is_directory))
}

/// The mode to make a file with that is to have these permissions.
pub(crate) fn mode_of(permissions: &Permissions) -> u32 {
    if permissions.readonly() { 0o444 } else { 0o666 }
}

/// `CloseHandle`: closes the file and returns the error that dropping it would hide.
///
/// [CloseHandle](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle)
#[inline]
pub fn close(file: OwnedFile) -> Result<(), Errno> {
    // SAFETY: the handle is owned and given up here, so nobody uses or closes it after this.
    if unsafe { CloseHandle(file.into_raw_handle()) } == 0 {
        Err(errno(&io::Error::last_os_error()))
    } else {
        Ok(())
    }
}

/// Whether `error` says that the process has as many files open as it may.
///
/// [System error codes](https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-)
impl Errno {
    /// Returns true if the process or the system has as many files open as it may. The error passes
    /// when some are closed.
    pub const fn is_out_of_descriptors(self) -> bool {
        self.0.cast_unsigned() == ERROR_TOO_MANY_OPEN_FILES
    }
}

/// Lends a borrowed handle to `work` as std's type for files.
#[inline]
fn with_file<T>(file: BorrowedFile<'_>, work: impl FnOnce(&File) -> T) -> T {
    // SAFETY: the handle is open for as long as it is borrowed, which is longer than this call, and is not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_handle(file.as_raw_handle()) });
    work(&file)
}

#[cold]
fn errno(error: &io::Error) -> Errno {
    // What std refuses by itself has no number: a NUL in a path, flags that exclude each other.
    let invalid = ERROR_INVALID_PARAMETER.cast_signed();
    Errno(error.raw_os_error().unwrap_or(invalid))
}
