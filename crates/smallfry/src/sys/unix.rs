//! Unix: thin layers over libc. Each function names its system call and the page that defines it.

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Status;
use crate::errno::Errno;

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android")),
    path = "macos.rs"
)]
pub(super) mod variant;

/// An open file that closes when dropped, without telling of an error; [`close`] tells.
pub type OwnedFile = std::os::fd::OwnedFd;

/// An open file that belongs to somebody else.
pub type BorrowedFile<'file> = std::os::fd::BorrowedFd<'file>;

/// Whatever holds an open file: [`std::fs::File`], standard output, a pipe, a socket.
pub use std::os::fd::AsFd as AsFile;

/// Open for reading.
pub const O_RDONLY: i32 = libc::O_RDONLY;
/// Open for writing.
pub const O_WRONLY: i32 = libc::O_WRONLY;
/// Open for reading and writing.
pub const O_RDWR: i32 = libc::O_RDWR;
/// Every write goes to the end of the file as it is then.
pub const O_APPEND: i32 = libc::O_APPEND;
/// Create the file if it is missing.
pub const O_CREAT: i32 = libc::O_CREAT;
/// With [`O_CREAT`]: fail if it exists, even as a dangling symbolic link.
pub const O_EXCL: i32 = libc::O_EXCL;
/// Cut the file to nothing when it is opened.
pub const O_TRUNC: i32 = libc::O_TRUNC;
/// Do not wait for the other end of a named pipe.
pub const O_NONBLOCK: i32 = libc::O_NONBLOCK;

/// What the system says of a file where it wants a directory.
#[cfg(feature = "tree")]
pub(crate) const NOT_A_DIRECTORY: Errno = Errno(libc::ENOTDIR);

/// Any name is a name.
pub(crate) const RESERVES_NAMES: bool = false;

/// Whether names that differ only in case are usually one file.
pub(crate) const FOLDS_CASE: bool = variant::FOLDS_CASE;

/// Whether a file that is open keeps its name from being used for another.
pub(crate) const OPEN_FILES_ARE_IN_THE_WAY: bool = false;

/// Whether [`std::fs::copy`] has a call here that takes both paths and does more than copying bytes.
///
/// [clonefile(2)](https://www.manpagez.com/man/2/clonefile/)
pub(crate) const COPIES_BY_PATH: bool = cfg!(target_vendor = "apple");

/// [`std::fs::copy`], where that is the case.
pub(crate) fn copy_by_path(from: &Path, to: &Path) -> io::Result<u64> {
    std::fs::copy(from, to)
}

/// Paths shorter than this are given their closing NUL on the stack. As in std: longer would cost stack probes.
const STACK_PATH: usize = 384;

/// The file held by `file`, as a value that costs nothing to pass on. No system call.
#[inline]
pub fn borrow(file: &impl AsFile) -> BorrowedFile<'_> {
    file.as_fd()
}

/// `open`: opens `path` with the system's own `flags`; `mode` counts if the file is created, less the process's umask.
///
/// `O_CLOEXEC` is always added. An interrupted call (`EINTR`, on a named pipe or a slow file system) is repeated.
///
/// [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
#[inline]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
    loop {
        // SAFETY: the path is a NUL-terminated string that outlives the call, and a mode is given whether or not the
        // flags ask for one. It is widened to what C passes through variadic arguments.
        let fd = unsafe {
            variant::open(
                path.as_ptr(),
                flags | libc::O_CLOEXEC,
                libc::c_uint::from(mode as libc::mode_t),
            )
        };
        if fd >= 0 {
            // SAFETY: the system has just returned this descriptor, so it is open and nobody else's.
            return Ok(unsafe { OwnedFile::from_raw_fd(fd) });
        }
        repeat_if_interrupted()?;
    }
}

/// `open` for a path as Rust has it. A path with a NUL inside is refused with `InvalidInput`.
///
/// [open(2)](https://man7.org/linux/man-pages/man2/open.2.html)
#[inline]
pub(crate) fn open_path(path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
    with_c_path(path.as_os_str().as_bytes(), |path| open(path, flags, mode))
}

/// Lends `path` with a closing NUL to a system call: on the stack if it is short. A NUL inside is refused with
/// `InvalidInput`.
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
    // SAFETY: `path` is shorter than the buffer, so it and one NUL fit; the two do not overlap; what is read back is
    // what was just written.
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

/// `write`: writes some of `bytes` at the file's position and returns how many. An interrupted call is repeated.
///
/// [write(2)](https://man7.org/linux/man-pages/man2/write.2.html)
#[inline]
pub fn write(file: BorrowedFile<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        // SAFETY: the pointer and length are those of a live slice, which is only read.
        let count = unsafe {
            libc::write(
                file.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len().min(variant::MAX_PER_CALL),
            )
        };
        if let Ok(count) = usize::try_from(count) {
            return Ok(count);
        }
        repeat_if_interrupted()?;
    }
}

/// `read`: reads once, from the file's position, and returns the part of `buffer` that was filled. Empty means the end
/// of the file, if `buffer` is not empty itself. An interrupted call is repeated.
///
/// [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
#[inline]
pub fn read<'buffer>(
    file: BorrowedFile<'_>,
    buffer: &'buffer mut [MaybeUninit<u8>],
) -> Result<&'buffer mut [u8], Errno> {
    loop {
        // SAFETY: the pointer and length are those of a slice borrowed for writing, and need not be initialised.
        let count = unsafe {
            libc::read(
                file.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len().min(variant::MAX_PER_CALL),
            )
        };
        if let Ok(count) = usize::try_from(count) {
            let filled = &mut buffer[..count];
            // SAFETY: the system has just written that many bytes there.
            return Ok(unsafe {
                std::slice::from_raw_parts_mut(filled.as_mut_ptr().cast(), filled.len())
            });
        }
        repeat_if_interrupted()?;
    }
}

/// `read`, once, into the room that `buffer` has left; returns how many bytes were added.
///
/// [read(2)](https://man7.org/linux/man-pages/man2/read.2.html)
#[inline]
pub(crate) fn read_spare(file: BorrowedFile<'_>, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    let count = read(file, buffer.spare_capacity_mut())?.len();
    // SAFETY: `read` has initialised that many bytes from the old length on, within the capacity.
    unsafe { buffer.set_len(buffer.len() + count) };
    Ok(count)
}

/// `fstat`: size and kind of an open file.
///
/// [fstat(2)](https://man7.org/linux/man-pages/man2/stat.2.html)
#[inline]
pub fn status(file: BorrowedFile<'_>) -> Result<Status, Errno> {
    let status = full_status(file)?;
    let kind = status.st_mode & libc::S_IFMT;
    Ok(Status::new(
        u64::try_from(status.st_size).unwrap_or(0),
        kind == libc::S_IFREG,
        kind == libc::S_IFDIR,
    ))
}

/// `fstat`: the kind of an open file, as one of the `S_IF` constants.
///
/// [inode(7)](https://man7.org/linux/man-pages/man7/inode.7.html)
pub(super) fn file_type(file: BorrowedFile<'_>) -> Result<libc::mode_t, Errno> {
    Ok(full_status(file)?.st_mode & libc::S_IFMT)
}

#[inline]
pub(super) fn full_status(file: BorrowedFile<'_>) -> Result<variant::FullStatus, Errno> {
    let mut status = MaybeUninit::uninit();
    // SAFETY: the structure is large enough and borrowed for writing.
    if unsafe { variant::fstat(file.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return Err(last_error());
    }
    // SAFETY: fstat succeeded, so it has filled the structure.
    Ok(unsafe { status.assume_init() })
}

/// The mode to make a file with that is to have these permissions.
pub(crate) fn mode_of(permissions: &Permissions) -> u32 {
    permissions.mode() & 0o7777
}

/// `close`: closes the file and returns the error that dropping it would hide.
///
/// Some file systems (NFS, quota) report a failed write only here. The call is never repeated, not even for `EINTR`:
/// the descriptor may be gone already and its number somebody else's.
///
/// [close(2)](https://man7.org/linux/man-pages/man2/close.2.html)
#[inline]
pub fn close(file: OwnedFile) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned and given up here, so nobody uses or closes it after this.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

/// Whether `error` says that the process (`EMFILE`) or the system (`ENFILE`) has as many files open as it may.
///
/// [open(2), ERRORS](https://man7.org/linux/man-pages/man2/open.2.html)
impl Errno {
    /// Returns true if the process or the system has as many files open as it may. The error passes
    /// when some are closed.
    pub const fn is_out_of_descriptors(self) -> bool {
        matches!(self.0, libc::EMFILE | libc::ENFILE)
    }
}

#[cold]
pub(super) fn last_error() -> Errno {
    Errno(io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

#[cold]
pub(super) fn repeat_if_interrupted() -> Result<(), Errno> {
    match last_error() {
        Errno(libc::EINTR) => Ok(()),
        error => Err(error),
    }
}
