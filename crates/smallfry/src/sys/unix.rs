//! Unix: thin layers over rustix, and over libc where rustix lacks the call.
//!
//! Each function names its system call and the page that defines it.

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::retry_on_intr;

use super::Status;
use crate::errno::Errno;

/// An open file that closes when dropped and ignores the error of closing; [`close`] returns it.
pub type OwnedFile = std::os::fd::OwnedFd;

/// A borrowed open file.
pub type BorrowedFile<'file> = std::os::fd::BorrowedFd<'file>;

/// A type that holds an open file: [`std::fs::File`], standard output, a pipe, a socket.
pub use std::os::fd::AsFd as AsFile;

/// Opens for reading.
pub const O_RDONLY: i32 = libc::O_RDONLY;
/// Opens for writing.
pub const O_WRONLY: i32 = libc::O_WRONLY;
/// Opens for reading and writing.
pub const O_RDWR: i32 = libc::O_RDWR;
/// Makes every write go to the current end of the file.
pub const O_APPEND: i32 = libc::O_APPEND;
/// Creates the file if it is missing.
pub const O_CREAT: i32 = libc::O_CREAT;
/// With [`O_CREAT`]: fails if the file exists, even as a dangling symbolic link.
pub const O_EXCL: i32 = libc::O_EXCL;
/// Truncates the file to nothing when it is opened.
pub const O_TRUNC: i32 = libc::O_TRUNC;
/// Does not wait for the other end of a named pipe.
pub const O_NONBLOCK: i32 = libc::O_NONBLOCK;

/// The error for a file where the system wants a directory.
#[cfg(feature = "tree")]
pub(crate) const NOT_A_DIRECTORY: Errno = Errno(libc::ENOTDIR);

/// True if the system gives some names a meaning of their own.
pub(crate) const RESERVES_NAMES: bool = false;

/// True if the name of an open file cannot be given to another file.
pub(crate) const OPEN_FILES_ARE_IN_THE_WAY: bool = false;

/// True if [`std::fs::copy`] uses a call that takes both paths and does more than copy bytes.
///
/// `fclonefileat`, [clonefile(2)](https://www.manpagez.com/man/2/clonefile/)
pub(crate) const COPIES_BY_PATH: bool = cfg!(target_vendor = "apple");

/// Copies a file as [`std::fs::copy`] does, on systems with [`COPIES_BY_PATH`].
pub(crate) fn copy_by_path(from: &Path, to: &Path) -> io::Result<u64> {
    std::fs::copy(from, to)
}

/// Paths shorter than this get their closing NUL on the stack. It is the limit of std: a longer
/// buffer would cost stack probes.
const STACK_PATH: usize = 384;

/// Borrows the file that `file` holds. It makes no system call.
#[inline]
pub fn borrow(file: &impl AsFile) -> BorrowedFile<'_> {
    file.as_fd()
}

/// Opens `path` with the system's own `flags`. `mode` counts if the file is created, less the umask
/// of the process.
///
/// `O_CLOEXEC` is always added. An interrupted call (`EINTR`, on a named pipe or a slow file
/// system) is repeated.
///
/// `open`, [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
#[inline]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
    retry_on_intr(|| rustix::fs::open(path, open_flags(flags), mode_from(mode))).map_err(errno)
}

/// Returns the flags for rustix, with `O_CLOEXEC` added.
#[inline]
pub(super) fn open_flags(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned()) | OFlags::CLOEXEC
}

/// Returns the permission bits of `mode` for rustix.
#[inline]
pub(super) fn mode_from(mode: u32) -> Mode {
    Mode::from_bits_retain(mode as rustix::fs::RawMode)
}

/// Opens `path` as [`open`] does. A path with a NUL inside is refused with `InvalidInput`.
///
/// `open`, [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
#[inline]
pub(crate) fn open_path(path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
    with_c_path(path.as_os_str().as_bytes(), |path| open(path, flags, mode))
}

/// Lends `path` with a closing NUL to a system call, on the stack if the path is short. A NUL
/// inside is refused with `InvalidInput`.
#[inline]
pub(super) fn with_c_path<T>(
    path: &[u8],
    call: impl FnOnce(&CStr) -> Result<T, Errno>,
) -> io::Result<T> {
    if path.len() >= STACK_PATH {
        return with_long_path(path, call);
    }
    let mut buffer = [const { MaybeUninit::<u8>::uninit() }; STACK_PATH];
    let start = buffer.as_mut_ptr().cast::<u8>();
    // SAFETY: `path` is shorter than the buffer, so it and one NUL fit. The two do not overlap. The
    // bytes that are read back were just written.
    let terminated = unsafe {
        start.copy_from_nonoverlapping(path.as_ptr(), path.len());
        start.add(path.len()).write(0);
        std::slice::from_raw_parts(start, path.len() + 1)
    };
    let path = CStr::from_bytes_with_nul(terminated).map_err(|_| nul_in_path())?;
    Ok(call(path)?)
}

#[cold]
fn with_long_path<T>(path: &[u8], call: impl FnOnce(&CStr) -> Result<T, Errno>) -> io::Result<T> {
    let path = CString::new(path).map_err(|_| nul_in_path())?;
    Ok(call(&path)?)
}

#[cold]
fn nul_in_path() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path contains a NUL byte")
}

/// Writes some of `bytes` at the file's position and returns how many. An interrupted call is
/// repeated.
///
/// `write`, [write(2)](https://man7.org/linux/man-pages/man2/write.2.html)
#[inline]
pub fn write(file: BorrowedFile<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    retry_on_intr(|| rustix::io::write(file, bytes)).map_err(errno)
}

/// Reads once, from the file's position, and returns the filled part of `buffer`. If `buffer` is
/// not empty, an empty part means the end of the file. An interrupted call is repeated.
///
/// `read`, [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
#[inline]
pub fn read<'buffer>(
    file: BorrowedFile<'_>,
    buffer: &'buffer mut [MaybeUninit<u8>],
) -> Result<&'buffer mut [u8], Errno> {
    let read = || rustix::io::read(file, &mut *buffer).map(|(filled, _)| filled.len());
    let count = retry_on_intr(read).map_err(errno)?;
    let filled = &mut buffer[..count];
    // SAFETY: the system has just written that many bytes there.
    Ok(unsafe { std::slice::from_raw_parts_mut(filled.as_mut_ptr().cast(), filled.len()) })
}

/// Reads once into the spare capacity of `buffer`, which must have some, and returns how many bytes
/// were added. An interrupted call is repeated.
///
/// `read`, [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
#[inline]
pub(crate) fn read_spare(file: BorrowedFile<'_>, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    retry_on_intr(|| rustix::io::read(file, spare_capacity(buffer))).map_err(errno)
}

/// Returns the size and kind of an open file.
///
/// `fstat`, [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
#[inline]
pub fn status(file: BorrowedFile<'_>) -> Result<Status, Errno> {
    let status = full_status(file)?;
    let kind = FileType::from_raw_mode(status.st_mode);
    Ok(Status::new(
        u64::try_from(status.st_size).unwrap_or(0),
        kind == FileType::RegularFile,
        kind == FileType::Directory,
    ))
}

/// Returns the kind of an open file.
///
/// `fstat`, [inode(7)](https://man7.org/linux/man-pages/man7/inode.7.html)
pub(super) fn file_type(file: BorrowedFile<'_>) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(full_status(file)?.st_mode))
}

/// Returns the status of an open file.
///
/// `fstat`, [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
#[inline]
pub(super) fn full_status(file: BorrowedFile<'_>) -> Result<Stat, Errno> {
    rustix::fs::fstat(file).map_err(errno)
}

/// Returns the mode to create a file with, for it to have these permissions.
pub(crate) fn mode_of(permissions: &Permissions) -> u32 {
    permissions.mode() & 0o7777
}

/// Closes the file and returns the error that dropping it would hide.
///
/// Some file systems (NFS, quota) report a failed write only here. The call is never repeated, not
/// even for `EINTR`: the descriptor may be gone, and its number may belong to another file.
///
/// `close`, [close(2)](https://man7.org/linux/man-pages/man2/close.2.html)
#[inline]
pub fn close(file: OwnedFile) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned and given up here, so it is neither used nor closed after
    // this. rustix's own `close` ignores the error.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

impl Errno {
    /// Returns true if the process (`EMFILE`) or the system (`ENFILE`) has as many files open as it
    /// may. The error passes when some are closed.
    ///
    /// [open(2), ERRORS](https://man7.org/linux/man-pages/man2/open.2.html)
    pub const fn is_out_of_descriptors(self) -> bool {
        matches!(self.0, libc::EMFILE | libc::ENFILE)
    }
}

/// Returns the number of an error of rustix.
#[inline]
pub(super) fn errno(error: rustix::io::Errno) -> Errno {
    Errno(error.raw_os_error())
}

/// Returns the error of the last call of libc on this thread.
#[cold]
pub(super) fn last_error() -> Errno {
    Errno(io::Error::last_os_error().raw_os_error().unwrap_or(0))
}
