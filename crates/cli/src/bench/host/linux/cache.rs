//! The page cache: dropping it, and looking files up in it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Empties it, entries of directories included:
/// <https://docs.kernel.org/admin-guide/sysctl/vm.html#drop-caches>. What is not on its device yet
/// cannot be dropped, so that comes first.
pub(in crate::bench::host) fn drop_all(directory: &Path) -> io::Result<()> {
    super::flush_all(directory)?;
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

/// Pages of the file that are in it, and pages that it has.
///
/// `mincore` tells of every page without touching it:
/// <https://man7.org/linux/man-pages/man2/mincore.2.html>.
pub(in crate::bench::host) fn pages(path: &Path) -> io::Result<(usize, usize)> {
    let file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if length == 0 {
        return Ok((0, 0));
    }
    // SAFETY: the system chooses an address that is free; the descriptor is open across the call.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it only asks for a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page = usize::try_from(page).unwrap_or(4096);
    let mut resident = vec![0_u8; length.div_ceil(page)];
    // SAFETY: the range is the mapping made above, and there is a byte for each of its pages.
    let told = unsafe { libc::mincore(start, length, resident.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping was made above, of that length, and nothing points into it.
    unsafe { libc::munmap(start, length) };
    if told != 0 {
        return Err(error);
    }
    let here = resident.iter().filter(|byte| **byte & 1 == 1).count();
    Ok((here, resident.len()))
}
