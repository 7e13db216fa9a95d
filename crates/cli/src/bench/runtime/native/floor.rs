//! The floor: the same work in bare system calls, the path prepared beforehand. Nothing can do it with fewer.

use std::ffi::CString;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsRawFd;
use std::path::Path;

/// A path as the system takes it.
pub(super) struct Prepared(CString);

#[cfg(unix)]
impl Prepared {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        use std::os::unix::ffi::OsStrExt;
        Ok(Self(CString::new(path.as_os_str().as_bytes())?))
    }

    /// `open`, `write` until all is written, `close`.
    pub(super) fn write(&self, append: bool, bytes: &[u8]) -> io::Result<()> {
        let how = if append {
            libc::O_APPEND
        } else {
            libc::O_TRUNC
        };
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC | how;
        // SAFETY: the path ends in NUL and lives across the call; with O_CREAT the mode is given.
        let fd = check(unsafe { libc::open(self.0.as_ptr(), flags, 0o666) } as isize)?;
        let written = write_all(fd as i32, bytes);
        // SAFETY: fd came from open just now, nobody else has it, and it is not used again.
        let closed = check(unsafe { libc::close(fd as i32) } as isize);
        written.and(closed.map(|_| ()))
    }
}

/// On the caller's descriptor.
#[cfg(unix)]
pub(super) fn write_to(file: &File, bytes: &[u8]) -> io::Result<()> {
    write_all(file.as_raw_fd(), bytes)
}

#[cfg(not(unix))]
pub(super) fn write_to(_: &File, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// `write` until all is written.
#[cfg(unix)]
fn write_all(fd: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are those of a live slice. A wrong fd is an error, not undefined.
        let written = check(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })?;
        bytes = &bytes[written..];
    }
    Ok(())
}

#[cfg(unix)]
fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// No floor here yet: the rows of other functions must do without.
#[cfg(not(unix))]
impl Prepared {
    pub(super) fn new(_: &Path) -> io::Result<Self> {
        Ok(Self(CString::default()))
    }

    pub(super) fn write(&self, _append: bool, _bytes: &[u8]) -> io::Result<()> {
        let _ = &self.0;
        Err(io::ErrorKind::Unsupported.into())
    }
}
