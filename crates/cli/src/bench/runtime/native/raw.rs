//! The same work in raw system calls, on paths that were prepared beforehand. Nothing can do it
//! with fewer calls.

use std::ffi::CString;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

/// A path as the system takes it.
pub(crate) struct Prepared(CString);

/// The flags of `open` that these rows need.
#[cfg(unix)]
pub(crate) mod flags {
    pub(crate) const APPEND: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
    pub(crate) const TRUNCATE: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
    pub(crate) const EXCLUSIVE: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    pub(crate) const DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY;
    pub(crate) const READ: i32 = libc::O_RDONLY;
}

/// This system has no such rows.
#[cfg(not(unix))]
pub(crate) mod flags {
    pub(crate) const APPEND: i32 = 0;
    pub(crate) const TRUNCATE: i32 = 0;
    pub(crate) const EXCLUSIVE: i32 = 0;
    pub(crate) const DIRECTORY: i32 = 0;
    pub(crate) const READ: i32 = 0;
}

impl Prepared {
    /// `open`, `write` until all is written, `close`.
    pub(crate) fn write(&self, append: bool, bytes: &[u8]) -> io::Result<()> {
        let how = [flags::TRUNCATE, flags::APPEND][usize::from(append)];
        write_to(&self.open(how)?, bytes)
    }

    /// `open`, `fstat`, `read` until the size is reached, `close`. The buffer grows to the longest
    /// file.
    pub(crate) fn read<'buffer>(&self, buffer: &'buffer mut Vec<u8>) -> io::Result<&'buffer [u8]> {
        let file = self.open(flags::READ)?;
        let size = size(&file)?;
        buffer.clear();
        buffer.reserve(size);
        read_all(&file, size, buffer)?;
        Ok(buffer)
    }

    /// The same into memory of its own, which nothing has touched before.
    pub(crate) fn read_fresh(&self) -> io::Result<Vec<u8>> {
        let file = self.open(flags::READ)?;
        let size = size(&file)?;
        let mut bytes = Vec::with_capacity(size);
        read_all(&file, size, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(unix)]
impl Prepared {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        use std::os::unix::ffi::OsStrExt;
        Ok(Self(CString::new(path.as_os_str().as_bytes())?))
    }

    /// `open`; dropping the file is `close`.
    pub(crate) fn open(&self, flags: i32) -> io::Result<File> {
        // SAFETY: the path ends in NUL and lives across the call; a mode is given.
        let fd = unsafe { libc::open(self.0.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
        check(fd as isize)?;
        // SAFETY: fd came from open just now, and has no other owner.
        Ok(unsafe { File::from_raw_fd(fd) })
    }

    /// `stat`, whatever it tells.
    pub(crate) fn stat(&self) -> io::Result<()> {
        // SAFETY: an all-zero stat is a valid one; it is plain numbers.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends in NUL; the pointer is to a whole stat; both live across the call.
        check(unsafe { libc::stat(self.0.as_ptr(), &raw mut stat) } as isize).map(drop)
    }

    /// `rename`.
    pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
        // SAFETY: both paths end in NUL and live across the call.
        check(unsafe { libc::rename(self.0.as_ptr(), to.0.as_ptr()) } as isize).map(drop)
    }
}

/// `write` until all is written.
#[cfg(unix)]
pub(crate) fn write_to(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are those of a live slice.
        let written = unsafe { libc::write(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        bytes = &bytes[check(written)?..];
    }
    Ok(())
}

#[cfg(unix)]
fn size(file: &File) -> io::Result<usize> {
    // SAFETY: an all-zero stat is a valid one; it is plain numbers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole stat that lives across the call.
    check(unsafe { libc::fstat(file.as_raw_fd(), &raw mut stat) } as isize)?;
    Ok(usize::try_from(stat.st_size).unwrap_or(0))
}

/// Reads `size` bytes, or up to the end, into the spare room of an empty buffer.
#[cfg(unix)]
fn read_all(file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    while buffer.len() < size {
        let length = buffer.len();
        let room = &mut buffer.spare_capacity_mut()[..size - length];
        // SAFETY: the pointer and length are those of a live slice, which `read` only writes to.
        let read = unsafe { libc::read(file.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
        let read = check(read)?;
        if read == 0 {
            break;
        }
        // SAFETY: that many bytes more have been written, all within the capacity.
        unsafe { buffer.set_len(length + read) };
    }
    Ok(())
}

#[cfg(unix)]
fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// This system has no such rows.
#[cfg(not(unix))]
impl Prepared {
    pub(crate) fn new(_: &Path) -> io::Result<Self> {
        Ok(Self(CString::default()))
    }

    pub(crate) fn open(&self, _: i32) -> io::Result<File> {
        let _ = &self.0;
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn stat(&self) -> io::Result<()> {
        self.open(0).map(drop)
    }

    pub(crate) fn rename(&self, _: &Self) -> io::Result<()> {
        self.open(0).map(drop)
    }
}

#[cfg(not(unix))]
pub(crate) fn write_to(_: &File, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn size(_: &File) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn read_all(_: &File, _: usize, _: &mut Vec<u8>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
