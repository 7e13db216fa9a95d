//! Reads the names in a directory.

use std::ffi::CStr;

use smallfry::raw::Errno;

use super::interrupted::last_errno;

/// The names in a directory in the order of their bytes, without `.` and `..`.
pub(crate) struct Names {
    bytes: Vec<u8>,
    /// The begin and the end of each name in `bytes`, and its type.
    entries: Vec<(usize, usize, u8)>,
}

impl Names {
    /// Reads a directory as libuv's `uv_fs_scandir` does.
    pub(crate) fn read(path: &CStr) -> Result<Self, Errno> {
        let mut bytes = Vec::new();
        let mut entries = Vec::new();
        each_name(path, |name, kind| {
            if name != b"." && name != b".." {
                let begin = bytes.len();
                bytes.extend_from_slice(name);
                entries.push((begin, bytes.len(), type_digit(kind)));
            }
        })?;
        entries.sort_unstable_by(|a, b| bytes[a.0..a.1].cmp(&bytes[b.0..b.1]));
        Ok(Self { bytes, entries })
    }

    /// Returns each name with its type, which is libuv's number as a digit.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u8)> {
        let entries = self.entries.iter();
        entries.map(|&(begin, end, digit)| (&self.bytes[begin..end], digit))
    }
}

/// The digits of libuv's types of files.
pub(crate) const UNKNOWN: u8 = b'0';
pub(crate) const DIRECTORY: u8 = b'2';
pub(crate) const LINK: u8 = b'3';

/// Returns libuv's number of a type of file, as a digit.
fn type_digit(kind: u8) -> u8 {
    match kind {
        libc::DT_REG => b'1',
        libc::DT_DIR => DIRECTORY,
        libc::DT_LNK => LINK,
        libc::DT_FIFO => b'4',
        libc::DT_SOCK => b'5',
        libc::DT_CHR => b'6',
        libc::DT_BLK => b'7',
        _ => UNKNOWN,
    }
}

/// Calls `each` with each name in a directory and its type, `.` and `..` included.
///
/// glibc would ask for the status of the directory, and for memory of 32 KiB.
/// [getdents64(2)](https://man7.org/linux/man-pages/man2/getdents64.2.html)
#[cfg(target_os = "linux")]
fn each_name(path: &CStr, mut each: impl FnMut(&[u8], u8)) -> Result<(), Errno> {
    use std::mem::{MaybeUninit, offset_of};
    use std::os::fd::AsRawFd;

    use smallfry::raw::{O_RDONLY, open};

    /// Memory for entries, as the kernel aligns them.
    #[repr(align(8))]
    struct Room(MaybeUninit<[u8; 32 << 10]>);

    const LENGTH: usize = offset_of!(libc::dirent64, d_reclen);
    const KIND: usize = offset_of!(libc::dirent64, d_type);
    const NAME: usize = offset_of!(libc::dirent64, d_name);

    let directory = open(path, O_RDONLY | libc::O_DIRECTORY, 0)?;
    let mut room = Room(MaybeUninit::uninit());
    loop {
        // SAFETY: the descriptor is open, and the kernel writes no more than there is room for.
        let filled = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                directory.as_raw_fd(),
                room.0.as_mut_ptr(),
                size_of::<Room>(),
            )
        };
        let filled = match filled {
            0 => return Ok(()),
            1.. => filled.unsigned_abs() as usize,
            _ => match last_errno() {
                Errno(libc::EINTR) => continue,
                errno => return Err(errno),
            },
        };
        // SAFETY: the kernel has filled so many bytes.
        let mut entries =
            unsafe { std::slice::from_raw_parts(room.0.as_ptr().cast::<u8>(), filled) };
        while entries.len() > NAME {
            let length = usize::from(u16::from_ne_bytes([entries[LENGTH], entries[LENGTH + 1]]));
            let (entry, rest) = entries.split_at(length.clamp(NAME, entries.len()));
            let name = entry[NAME..]
                .split(|&byte| byte == 0)
                .next()
                .unwrap_or_default();
            each(name, entry[KIND]);
            entries = rest;
        }
    }
}

/// Calls `each` with each name in a directory and its type, `.` and `..` included.
///
/// [readdir(3)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/readdir.3.html)
#[cfg(not(target_os = "linux"))]
fn each_name(path: &CStr, mut each: impl FnMut(&[u8], u8)) -> Result<(), Errno> {
    /// An open directory.
    struct Directory(*mut libc::DIR);

    impl Drop for Directory {
        fn drop(&mut self) {
            // SAFETY: opened once, and closed here only.
            unsafe { libc::closedir(self.0) };
        }
    }

    // SAFETY: the path is NUL-terminated.
    let stream = unsafe { libc::opendir(path.as_ptr()) };
    if stream.is_null() {
        return Err(last_errno());
    }
    let directory = Directory(stream);
    loop {
        // SAFETY: the address of this thread's own errno.
        unsafe { *libc::__error() = 0 };
        // SAFETY: the directory is open, and no other thread reads it.
        let entry = unsafe { libc::readdir(directory.0) };
        if entry.is_null() {
            return match last_errno() {
                Errno(0) => Ok(()),
                errno => Err(errno),
            };
        }
        // SAFETY: valid until the next call; its name ends with NUL, though the entry may be
        // shorter than the structure.
        let (name, kind) = unsafe {
            (
                CStr::from_ptr((&raw const (*entry).d_name).cast()),
                (*entry).d_type,
            )
        };
        each(name.to_bytes(), kind);
    }
}
