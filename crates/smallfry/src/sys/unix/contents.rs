//! Unix: copying the contents of an open file without reading all of them.

#[cfg(any(feature = "archive", feature = "hash"))]
use std::fs::File;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::io;
#[cfg(any(feature = "archive", feature = "hash"))]
use std::os::unix::fs::FileExt as _;

use rustix::fs::{self, SeekFrom};
use rustix::io::{Errno as Code, pread, pwrite};

use super::platform::{BorrowedFile, errno};
use super::variant;
use crate::errno::Errno;

/// The bytes that are copied at a time.
const PIECE: usize = 256 << 10;

/// Makes an empty file share the blocks of another one, until one of both is changed.
pub(crate) fn clone_file(from: BorrowedFile<'_>, to: BorrowedFile<'_>) -> Result<(), Errno> {
    variant::clone_file(from, to)
}

/// Lets the kernel copy bytes from the place of one file to that of another. Returns their number.
/// On file systems that can do that, the copy shares blocks with its source.
pub(crate) fn copy_range(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    length: u64,
) -> Result<u64, Errno> {
    variant::copy_range(from, to, length)
}

/// Copies a file with holes to an empty one, which gets the same holes. Returns its length.
pub(crate) fn copy_sparse(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    size: u64,
) -> Result<u64, Errno> {
    let mut buffer = vec![0; PIECE];
    for (start, length) in data_parts(from, size)? {
        let (mut at, end) = (start, start + length);
        while at < end {
            let room = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
            let count = pread(from, &mut buffer[..room], at).map_err(errno)?;
            if count == 0 {
                // It was cut off meanwhile.
                return fs::ftruncate(to, at).map_err(errno).map(|()| at);
            }
            let mut done = 0;
            while done < count {
                let place = at + done as u64;
                match pwrite(to, &buffer[done..count], place).map_err(errno)? {
                    0 => return Err(Errno::NOTHING_WRITTEN),
                    written => done += written,
                }
            }
            at += count as u64;
        }
    }
    fs::ftruncate(to, size).map_err(errno)?;
    Ok(size)
}

/// Returns the parts of a file that are no holes: where each begins, and its length in bytes.
///
/// `lseek` with `SEEK_DATA` and `SEEK_HOLE`,
/// [lseek(2)](https://man7.org/linux/man-pages/man2/lseek.2.html)
pub(crate) fn data_parts(file: BorrowedFile<'_>, size: u64) -> Result<Vec<(u64, u64)>, Errno> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < size {
        at = match fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Only a hole follows.
            Err(Code::NXIO) => break,
            // The file system does not tell.
            Err(Code::INVAL | Code::NOTSUP) => at,
            Err(error) => return Err(errno(error)),
        };
        let end = fs::seek(file, SeekFrom::Hole(at)).map_or(size, |end| end.min(size));
        if at < end {
            parts.push((at, end - at));
        }
        at = at.max(end);
    }
    Ok(parts)
}

/// Reads at a position, and leaves that of the open file as it is.
///
/// `pread`, [pread(2)](https://man7.org/linux/man-pages/man2/pread.2.html)
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    file.read_at(buffer, position)
}
