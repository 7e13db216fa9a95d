//! The same work in raw system calls, on paths that were prepared beforehand. Nothing can do it
//! with fewer calls.

#[cfg(unix)]
use rustix::buffer::spare_capacity;
#[cfg(unix)]
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A path as the system takes it.
#[cfg(unix)]
pub(crate) struct Prepared(CString);

/// This system has no such rows.
#[cfg(not(unix))]
pub(crate) enum Prepared {}

/// The flags of `open` that these rows need.
pub(crate) mod flags {
    pub(crate) const APPEND: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
    pub(crate) const TRUNCATE: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
    pub(crate) const EXCLUSIVE: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    pub(crate) const READ: i32 = libc::O_RDONLY;
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
        buffer.clear();
        read_all(&self.open(flags::READ)?, buffer)?;
        Ok(buffer)
    }

    /// The same into memory of its own, which nothing has touched before.
    pub(crate) fn read_fresh(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        read_all(&self.open(flags::READ)?, &mut bytes)?;
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
        use rustix::fs::{Mode, OFlags, open};
        let flags = OFlags::from_bits_retain(flags.cast_unsigned()) | OFlags::CLOEXEC;
        Ok(open(self.0.as_c_str(), flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// `stat`, whatever it tells.
    pub(crate) fn stat(&self) -> io::Result<()> {
        rustix::fs::stat(self.0.as_c_str())?;
        Ok(())
    }

    /// `rename`.
    pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
        Ok(rustix::fs::rename(self.0.as_c_str(), to.0.as_c_str())?)
    }
}

/// `fstat`, and `read` up to that size or the end, into an empty buffer.
#[cfg(unix)]
fn read_all(file: &File, buffer: &mut Vec<u8>) -> io::Result<()> {
    let size = rustix::fs::fstat(file)?.st_size;
    let size = usize::try_from(size).map_err(io::Error::other)?;
    buffer.reserve(size);
    while buffer.len() < size && rustix::io::read(file, spare_capacity(buffer))? > 0 {}
    Ok(())
}

/// `write` until all is written.
pub(crate) fn write_to(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}

#[cfg(not(unix))]
impl Prepared {
    pub(crate) fn new(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn open(&self, _: i32) -> io::Result<File> {
        match *self {}
    }

    pub(crate) fn stat(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn rename(&self, _: &Self) -> io::Result<()> {
        match *self {}
    }
}

#[cfg(not(unix))]
fn read_all(_: &File, _: &mut Vec<u8>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
