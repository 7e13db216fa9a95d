//! The floor: the same work in bare system calls, the path prepared beforehand. Nothing can do it with fewer.

use crate::bench::runtime::protocol::Level;
use std::ffi::CString;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsRawFd, FromRawFd};
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

    /// `open`, `fstat`, `read` until as much is read as it told, `close`. The buffer grows to the longest file.
    pub(super) fn read<'buffer>(&self, buffer: &'buffer mut Vec<u8>) -> io::Result<&'buffer [u8]> {
        self.opened(|fd| {
            let size = size(fd)?;
            buffer.clear();
            buffer.reserve(size);
            read_all(fd, size, buffer)
        })?;
        Ok(buffer)
    }

    /// `stat`, whatever it tells.
    pub(super) fn stat(&self) -> io::Result<()> {
        // SAFETY: an all-zero stat is a valid one; it is plain numbers.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends in NUL; the pointer is to a whole stat; both live across the call.
        check(unsafe { libc::stat(self.0.as_ptr(), &raw mut stat) } as isize).map(drop)
    }

    /// The same into memory of its own, which nothing has touched before.
    pub(super) fn read_fresh(&self) -> io::Result<Vec<u8>> {
        self.opened(|fd| {
            let size = size(fd)?;
            let mut bytes = Vec::with_capacity(size);
            read_all(fd, size, &mut bytes)?;
            Ok(bytes)
        })
    }

    fn opened<T>(&self, work: impl FnOnce(i32) -> io::Result<T>) -> io::Result<T> {
        // SAFETY: the path ends in NUL and lives across the call; without O_CREAT there is no mode.
        let opened = unsafe { libc::open(self.0.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        let fd = check(opened as isize)? as i32;
        let done = work(fd);
        // SAFETY: fd came from open just now, nobody else has it, and it is not used again.
        let closed = check(unsafe { libc::close(fd) } as isize);
        let done = done?;
        closed?;
        Ok(done)
    }
}

/// A file that is written again and again, durably, and what that takes.
#[cfg_attr(not(unix), allow(dead_code, reason = "there is no such row"))]
pub(super) struct Replacement {
    path: Prepared,
    /// Beside it.
    temporary: Prepared,
    directory: Prepared,
}

#[cfg(unix)]
impl Replacement {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        Ok(Self {
            path: Prepared::new(path)?,
            temporary: Prepared::new(Path::new(&temporary))?,
            directory: Prepared::new(path.parent().unwrap_or(Path::new("/")))?,
        })
    }

    /// `open`, `write` until all is written, the flush, `close`; for the name the directory's `open`, `fsync`, `close`.
    pub(super) fn write(&self, level: Level, bytes: &[u8]) -> io::Result<()> {
        self.path.write_flushed(libc::O_TRUNC, level, bytes)?;
        self.flush_directory(level)
    }

    /// The same with a new file, and `rename` before the directory is flushed.
    pub(super) fn replace(&self, level: Level, bytes: &[u8]) -> io::Result<()> {
        self.temporary.write_flushed(libc::O_EXCL, level, bytes)?;
        // SAFETY: both paths end in NUL and live across the call.
        check(unsafe { libc::rename(self.temporary.0.as_ptr(), self.path.0.as_ptr()) } as isize)?;
        self.flush_directory(level)
    }

    fn flush_directory(&self, level: Level) -> io::Result<()> {
        if level != Level::Full {
            return Ok(());
        }
        self.directory
            .open(libc::O_RDONLY | libc::O_DIRECTORY)?
            .sync_all()
    }
}

#[cfg(unix)]
impl Prepared {
    fn write_flushed(&self, how: i32, level: Level, bytes: &[u8]) -> io::Result<()> {
        let file = self.open(libc::O_WRONLY | libc::O_CREAT | how)?;
        write_all(file.as_raw_fd(), bytes)?;
        // std adds nothing to the call, and on macOS knows the one that reaches the disk.
        match level {
            Level::None => Ok(()),
            Level::Data => file.sync_data(),
            Level::File | Level::Full => file.sync_all(),
        }
    }

    /// Closed when it is dropped.
    fn open(&self, flags: i32) -> io::Result<File> {
        // SAFETY: the path ends in NUL and lives across the call; a mode is given, should O_CREAT ask for it.
        let fd = unsafe { libc::open(self.0.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
        check(fd as isize)?;
        // SAFETY: fd came from open just now, and nobody else has it.
        Ok(unsafe { File::from_raw_fd(fd) })
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
fn size(fd: i32) -> io::Result<usize> {
    // SAFETY: an all-zero stat is a valid one; it is plain numbers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole stat that lives across the call. A wrong fd is an error, not undefined.
    check(unsafe { libc::fstat(fd, &raw mut stat) } as isize)?;
    Ok(usize::try_from(stat.st_size).unwrap_or(0))
}

/// `size` bytes, or up to the end, into the spare room of an empty buffer.
#[cfg(unix)]
fn read_all(fd: i32, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    while buffer.len() < size {
        let length = buffer.len();
        let room = &mut buffer.spare_capacity_mut()[..size - length];
        // SAFETY: the pointer and length are those of a live slice, which `read` only writes to. A wrong fd is an error, not
        // undefined.
        let read = check(unsafe { libc::read(fd, room.as_mut_ptr().cast(), room.len()) })?;
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

#[cfg(not(unix))]
impl Replacement {
    pub(super) fn new(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn write(&self, _: Level, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn replace(&self, _: Level, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
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

    pub(super) fn read<'buffer>(&self, _: &'buffer mut Vec<u8>) -> io::Result<&'buffer [u8]> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn read_fresh(&self) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
