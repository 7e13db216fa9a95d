//! Linux: `openat2` resolves paths beneath a directory, and `statx` asks without making a server
//! work.

use std::ffi::CStr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{
    self, AtFlags, FileType, OFlags, RawDir, ResolveFlags, SeekFrom, Statx, StatxAttributes,
    StatxFlags,
};
use rustix::io::retry_on_intr;

#[path = "linux/extended.rs"]
pub(in crate::sys) mod extended;
#[path = "linux/flush.rs"]
pub(in crate::sys) mod flush;

use super::platform::{BorrowedFile, OwnedFile, errno, mode_from, open_flags};
use crate::errno::Errno;

/// False: directories that fold case exist here and are rare.
pub(crate) const FOLDS_CASE: bool = false;

/// `AT_STATX_FORCE_SYNC` and `AT_STATX_DONT_SYNC` of the kernel, for which musl has no names.
const FORCE_SYNC: AtFlags = AtFlags::from_bits_retain(0x2000);
const DONT_SYNC: AtFlags = AtFlags::from_bits_retain(0x4000);

/// The flag that opens a file only to start paths from it, or to ask about it. No permission on the
/// file itself is needed, and neither a pipe nor a device notices.
///
/// [open(2), `O_PATH`](https://man7.org/linux/man-pages/man2/open.2.html)
pub(in crate::sys) const O_PATH_ONLY: i32 = libc::O_PATH;

/// Opens `path` beneath `directory`. `EXDEV` if the path leads out; `EAGAIN` if directories were
/// renamed meanwhile, so that the kernel cannot tell. An interrupted call is repeated.
///
/// The call is missing before Linux 5.6 (`ENOSYS`), and the filters of some containers refuse it
/// (`EPERM` or `ENOSYS`).
///
/// `openat2` with `RESOLVE_BENEATH`,
/// [openat2(2)](https://man7.org/linux/man-pages/man2/openat2.2.html)
pub(in crate::sys) fn open_beneath(
    directory: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    // The call is stricter than `open`: a mode is an error where no file is created, and few flags
    // are allowed beside O_PATH.
    let creates = flags & libc::O_CREAT != 0;
    let large = if flags & libc::O_PATH == 0 {
        OFlags::LARGEFILE
    } else {
        OFlags::empty()
    };
    let flags = open_flags(flags) | large;
    let mode = mode_from(if creates { mode & 0o7777 } else { 0 });
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    retry_on_intr(|| fs::openat2(directory, path, flags, mode, resolve)).map_err(errno)
}

/// Returns [`device_of`] a regular file.
pub(in crate::sys) fn device_of_regular(file: BorrowedFile<'_>) -> Option<u64> {
    let status = quick_status(file)?;
    let kind = FileType::from_raw_mode(status.stx_mode.into());
    (kind == FileType::RegularFile).then(|| number_of(&status))
}

/// Returns a number for the file system that an open file is on.
pub(in crate::sys) fn device_of(file: BorrowedFile<'_>) -> Option<u64> {
    quick_status(file).as_ref().map(number_of)
}

/// Returns true if something is mounted at an open directory: another file system, or a directory
/// of the same one.
pub(in crate::sys) fn is_mount_point(directory: BorrowedFile<'_>) -> bool {
    let status = quick_status(directory);
    status.is_some_and(|status| status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

fn number_of(status: &Statx) -> u64 {
    u64::from(status.stx_dev_major) << 32 | u64::from(status.stx_dev_minor)
}

/// Returns the kind of an open file and the file system that it is on.
///
/// `fstat` would be slow after a write: NFS first sends all written bytes to the server, to know
/// the file's time, and FUSE asks its server for it.
///
/// `statx` with `AT_STATX_DONT_SYNC` and a mask of the kind alone,
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
fn quick_status(file: BorrowedFile<'_>) -> Option<Statx> {
    let flags = AtFlags::EMPTY_PATH | DONT_SYNC;
    fs::statx(file, c"", flags, StatxFlags::TYPE).ok()
}

/// The memory for one call of [`list`], in bytes: some 1,000 short names.
const LISTING: usize = 32 << 10;

/// Calls `each` with the name and the kind of each entry of an open directory, `.` and `..` among
/// them.
///
/// `getdents64`, [getdents(2)](https://man7.org/linux/man-pages/man2/getdents.2.html)
pub(in crate::sys) fn list(
    directory: BorrowedFile<'_>,
    mut each: impl FnMut(&CStr, FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    fs::seek(directory, SeekFrom::Start(0)).map_err(errno)?;
    let mut memory = Vec::with_capacity(LISTING);
    let mut entries = RawDir::new(directory, memory.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(errno)?;
        each(entry.file_name(), entry.file_type())?;
    }
    Ok(())
}

/// Makes an empty file share the blocks of another one.
///
/// [ioctl_ficlone(2)](https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html)
pub(in crate::sys) fn clone_file(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
) -> Result<(), Errno> {
    fs::ioctl_ficlone(to, from).map_err(errno)
}

/// Copies bytes from the place of one file to that of another. Returns their number.
///
/// [copy_file_range(2)](https://man7.org/linux/man-pages/man2/copy_file_range.2.html)
pub(in crate::sys) fn copy_range(
    from: BorrowedFile<'_>,
    to: BorrowedFile<'_>,
    length: u64,
) -> Result<u64, Errno> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let copied = fs::copy_file_range(from, None, to, None, length);
    copied.map(|count| count as u64).map_err(errno)
}

/// The magic numbers of file systems on disks and in memory of this machine: ext2 to ext4, XFS,
/// Btrfs, F2FS, tmpfs, ramfs. They report nothing when a file is closed. The last is overlayfs,
/// which passes a close on to one of these: a file server cannot be its upper layer.
///
/// [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html),
/// [overlayfs](https://docs.kernel.org/filesystems/overlayfs.html)
const CANNOT_FAIL_AT_CLOSE: [u32; 7] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0xF2F5_2010,
    0x0102_1994,
    0x8584_58F6,
    0x794C_7630,
];

/// Returns true if closing a file on that file system may report an error, as far as is known.
pub(in crate::sys) fn reports_at_close(file: BorrowedFile<'_>) -> bool {
    magic_number(file).is_none_or(|magic| !CANNOT_FAIL_AT_CLOSE.contains(&magic))
}

/// Returns the magic number of the file system that an open file is on.
///
/// `fstatfs`, [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html)
fn magic_number(file: BorrowedFile<'_>) -> Option<u32> {
    let status = fs::fstatfs(file).ok()?;
    // The type of the field differs between processors; the numbers have 32 bits.
    #[allow(clippy::cast_sign_loss, reason = "signed on some processors")]
    Some(status.f_type as u32)
}

/// Returns the path of an open file. A removed file has ` (deleted)` behind its path.
///
/// `readlink` under `/proc/self/fd`,
/// [proc_pid_fd(5)](https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html)
pub(in crate::sys) fn path_of(file: BorrowedFile<'_>) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}
