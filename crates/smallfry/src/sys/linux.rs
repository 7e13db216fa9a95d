//! Linux: file sizes of 64 bits have calls of their own on 32-bit machines, and `openat2` resolves paths beneath a
//! directory.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::PathBuf;

#[path = "linux/extended.rs"]
pub(in crate::sys) mod extended;
#[path = "linux/flush.rs"]
pub(in crate::sys) mod flush;

use super::{BorrowedFile, OwnedFile, repeat_if_interrupted};
use crate::errno::Errno;

pub(in crate::sys) use libc::openat64 as openat;
pub(super) use libc::{fstat64 as fstat, open64 as open, stat64 as FullStatus};

/// The most that one read or write is asked for. The kernel itself stops a little below 2 GiB and says so by a short count.
///
/// [write(2), NOTES](https://man7.org/linux/man-pages/man2/write.2.html)
pub(super) const MAX_PER_CALL: usize = isize::MAX as usize;

/// Directories that fold case exist here and are rare.
pub(super) const FOLDS_CASE: bool = false;

/// Opens something only as a place to start from, or to ask about: no permission on the file itself is needed, and
/// neither a pipe nor a device notices.
///
/// [open(2), `O_PATH`](https://man7.org/linux/man-pages/man2/open.2.html)
pub(in crate::sys) const O_PLACE: i32 = libc::O_PATH;

/// `struct open_how`. Here because libc does not have it for Android.
///
/// [open_how(2type)](https://man7.org/linux/man-pages/man2/open_how.2type.html)
#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

const RESOLVE_NO_MAGICLINKS: u64 = 0x02;
const RESOLVE_BENEATH: u64 = 0x08;

/// `openat2` with `RESOLVE_BENEATH`: opens `path` beneath `directory`. `EXDEV` if the path leads out; `EAGAIN` if
/// directories were renamed meanwhile, so that the kernel cannot tell. An interrupted call is repeated.
///
/// Missing before Linux 5.6 (`ENOSYS`), and refused by some containers' filters (`EPERM` or `ENOSYS`).
///
/// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html)
pub(in crate::sys) fn open_beneath(
    directory: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    // Stricter than `open`: a mode where nothing is made is an error, and O_PATH goes with few other flags.
    let is_made = flags & libc::O_CREAT != 0;
    let large = if flags & libc::O_PATH == 0 {
        libc::O_LARGEFILE
    } else {
        0
    };
    let how = OpenHow {
        flags: u64::from((flags | large | libc::O_CLOEXEC).cast_unsigned()),
        mode: if is_made { u64::from(mode & 0o7777) } else { 0 },
        resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    loop {
        // SAFETY: the path is a NUL-terminated string and the structure has the size that is told; both outlive the
        // call, which only reads them.
        let result = unsafe {
            libc::syscall(
                libc::SYS_openat2,
                directory.as_raw_fd(),
                path.as_ptr(),
                &raw const how,
                size_of::<OpenHow>(),
            )
        };
        match i32::try_from(result) {
            // SAFETY: the system has just returned this descriptor, so it is open and nobody else's.
            Ok(fd) if fd >= 0 => return Ok(unsafe { OwnedFile::from_raw_fd(fd) }),
            _ => repeat_if_interrupted()?,
        }
    }
}

/// [`device_of`] a regular file.
pub(in crate::sys) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    let status = quick_status(file)?;
    let is_regular = libc::mode_t::from(status.stx_mode) & libc::S_IFMT == libc::S_IFREG;
    is_regular.then(|| number_of(&status))
}

/// A number for the file system that an open file is on.
pub(in crate::sys) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    quick_status(file).as_ref().map(number_of)
}

fn number_of(status: &libc::statx) -> u64 {
    u64::from(status.stx_dev_major) << 32 | u64::from(status.stx_dev_minor)
}

/// `statx` with `AT_STATX_DONT_SYNC` and a mask of the kind alone.
///
/// Not `fstat`: after a write NFS first sends the server all that was written, to know the file's time, and FUSE asks its
/// server for it.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
fn quick_status(file: BorrowedFile<'_>) -> Option<libc::statx> {
    let mut status = MaybeUninit::<libc::statx>::uninit();
    // SAFETY: the path is an empty string, and the structure is large enough and borrowed for writing.
    let result = unsafe {
        libc::statx(
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_STATX_DONT_SYNC,
            libc::STATX_TYPE,
            status.as_mut_ptr(),
        )
    };
    if result != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    Some(unsafe { status.assume_init() })
}

/// File systems of this machine's own disks and memory, by their magic numbers: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs,
/// ramfs. What they do when a file is closed, if anything, reports nothing. The last is overlayfs, which passes it on to one
/// of these: a file server cannot be the upper layer.
///
/// [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html),
/// [overlayfs](https://docs.kernel.org/filesystems/overlayfs.html)
const SILENT_AT_CLOSE: [u32; 7] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0xF2F5_2010,
    0x0102_1994,
    0x8584_58F6,
    0x794C_7630,
];

/// `fstatfs`: whether closing a file on that file system may report an error, as far as is known.
///
/// [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html)
pub(in crate::sys) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    let mut status = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the structure is large enough and borrowed for writing.
    if unsafe { libc::fstatfs(file.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return true;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let kind = unsafe { status.assume_init() }.f_type;
    // Its type differs between machines; the numbers have 32 bits.
    #[allow(clippy::cast_sign_loss, reason = "signed on some")]
    !SILENT_AT_CLOSE.contains(&(kind as u32))
}

/// `readlink` under `/proc/self/fd`: the path of an open file. What was removed has ` (deleted)` behind it.
///
/// [proc_pid_fd(5)](https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html)
pub(in crate::sys) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}
