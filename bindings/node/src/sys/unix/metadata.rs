//! The system calls for paths that libuv makes for node:fs.
//!
//! Each function repeats interrupted calls. Results and errors are those of libuv's
//! [`src/unix/fs.c`](https://github.com/libuv/libuv/blob/v1.x/src/unix/fs.c).

use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::MaybeUninit;

use smallfry::raw::Errno;

use super::directory::Names;
use super::interrupted::repeated;
use crate::sys::metadata::{Answer, Call, Making, Operation, Status, Times};

/// Makes one call.
pub(crate) fn perform(call: &mut Call) -> Result<Answer, Errno> {
    let path = &call.path;
    match call.operation {
        Operation::Access => with_number(libc::access, path, call.bits.cast_signed()),
        Operation::Stat => status(path, true).map(Answer::Status),
        Operation::Lstat => status(path, false).map(Answer::Status),
        Operation::Readdir => names(path, call.bits != 0).map(Answer::Text),
        Operation::Realpath => resolve_names(path).map(Answer::Text),
        Operation::Readlink => read_link(path).map(Answer::Text),
        Operation::Mkdir => make_next(call),
        Operation::Chmod => with_number(libc::chmod, path, call.bits as libc::mode_t),
        Operation::Utimes => set_times(path, call.times),
    }
}

/// Makes a call with a path and a number.
fn with_number<N: Copy>(
    call: unsafe extern "C" fn(*const c_char, N) -> c_int,
    path: &CStr,
    number: N,
) -> Result<Answer, Errno> {
    // SAFETY: the function is one of libc's, and the path is NUL-terminated.
    repeated(|| unsafe { call(path.as_ptr(), number) }).map(|_| Answer::Nothing)
}

/// Tells whether an error is that of a path, and not of a kernel or a sandbox that refuses the
/// call.
pub(crate) fn is_plain(errno: Errno) -> bool {
    matches!(
        errno.0,
        libc::ENOENT
            | libc::ENOTDIR
            | libc::EACCES
            | libc::ELOOP
            | libc::ENAMETOOLONG
            | libc::EINVAL
    )
}

/// The fields of a status that Node wants.
#[cfg(target_os = "linux")]
pub(super) const MASK: u32 = libc::STATX_BASIC_STATS | libc::STATX_BTIME;

/// Returns the fields of an `fs.Stats`, in Node's order.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
#[cfg(target_os = "linux")]
fn status(path: &CStr, follow: bool) -> Result<Box<Status>, Errno> {
    let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    let mut status = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is NUL-terminated, and there is room for one structure.
    repeated(|| unsafe {
        libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            MASK,
            status.as_mut_ptr(),
        )
    })?;
    // SAFETY: zeroed memory is valid, and the kernel has filled it.
    Ok(Box::new(fields(unsafe { status.assume_init_ref() })))
}

/// Puts the fields of a status into Node's order.
#[cfg(target_os = "linux")]
pub(super) fn fields(status: &libc::statx) -> Status {
    let time = |time: &libc::statx_timestamp| [time.tv_sec.cast_unsigned(), time.tv_nsec.into()];
    let device = |major, minor| libc::makedev(major, minor);
    let [atime, mtime, ctime, birthtime] = [
        status.stx_atime,
        status.stx_mtime,
        status.stx_ctime,
        status.stx_btime,
    ]
    .map(|at| time(&at));
    [
        device(status.stx_dev_major, status.stx_dev_minor),
        status.stx_mode.into(),
        status.stx_nlink.into(),
        status.stx_uid.into(),
        status.stx_gid.into(),
        device(status.stx_rdev_major, status.stx_rdev_minor),
        status.stx_blksize.into(),
        status.stx_ino,
        status.stx_size,
        status.stx_blocks,
        atime[0],
        atime[1],
        mtime[0],
        mtime[1],
        ctime[0],
        ctime[1],
        birthtime[0],
        birthtime[1],
    ]
}

/// Returns the fields of an `fs.Stats`, in Node's order.
///
/// [stat(2)](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html)
#[cfg(not(target_os = "linux"))]
fn status(path: &CStr, follow: bool) -> Result<Box<Status>, Errno> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the path is NUL-terminated, and there is room for one structure.
    repeated(|| unsafe {
        if follow {
            libc::stat(path.as_ptr(), status.as_mut_ptr())
        } else {
            libc::lstat(path.as_ptr(), status.as_mut_ptr())
        }
    })?;
    // SAFETY: zeroed memory is valid, and the kernel has filled it.
    let status = unsafe { status.assume_init() };
    Ok(Box::new([
        status.st_dev as u64,
        status.st_mode.into(),
        status.st_nlink.into(),
        status.st_uid.into(),
        status.st_gid.into(),
        status.st_rdev as u64,
        status.st_blksize as u64,
        status.st_ino,
        status.st_size as u64,
        status.st_blocks as u64,
        status.st_atime.cast_unsigned(),
        status.st_atime_nsec.cast_unsigned(),
        status.st_mtime.cast_unsigned(),
        status.st_mtime_nsec.cast_unsigned(),
        status.st_ctime.cast_unsigned(),
        status.st_ctime_nsec.cast_unsigned(),
        status.st_birthtime.cast_unsigned(),
        status.st_birthtime_nsec.cast_unsigned(),
    ]))
}

/// Returns the names in a directory in the order of their bytes, each followed by a slash. With
/// `typed`, a digit for each follows, which is its type as libuv numbers it.
fn names(path: &CStr, typed: bool) -> Result<Vec<u8>, Errno> {
    let names = Names::read(path)?;
    let mut text = Vec::new();
    for (name, _) in names.iter() {
        text.extend_from_slice(name);
        text.push(b'/');
    }
    if typed {
        text.extend(names.iter().map(|(_, digit)| digit));
    }
    Ok(text)
}

/// The maximum number of symbolic links that one path may go through, as on Linux.
///
/// [path_resolution(7)](https://man7.org/linux/man-pages/man7/path_resolution.7.html)
const MAX_LINKS: usize = 40;

/// Returns an absolute path without symbolic links. `..` in the target of a link takes away the
/// name before it, even if that is a link to elsewhere: so does node:fs. An error says only that
/// node:fs has to decide, as it does for links to pipes and for names that are not UTF-8.
fn resolve_names(path: &CStr) -> Result<Vec<u8>, Errno> {
    let mut path = path.to_bytes().to_vec();
    // The part of the path before this is without links.
    let mut done = 1;
    let mut links = 0;
    while done < path.len() {
        let slash = path[done..].iter().position(|&byte| byte == b'/');
        let end = slash.map_or(path.len(), |slash| done + slash);
        let here = CString::new(&path[..end]).map_err(|_| Errno(libc::EINVAL))?;
        if kind_of(&*status(&here, false)?) != libc::S_IFLNK {
            done = end + 1;
            continue;
        }
        links += 1;
        let leads_to = kind_of(&*status(&here, true)?);
        let target = read_link(&here)?;
        let is_plain = std::str::from_utf8(&target).is_ok();
        if links > MAX_LINKS || [libc::S_IFIFO, libc::S_IFSOCK].contains(&leads_to) || !is_plain {
            return Err(Errno(libc::ELOOP));
        }
        let directory = &path[..done];
        let resolved = without_dots(&[directory, &target, &path[end..]]);
        if !resolved.starts_with(directory) {
            done = 1;
        }
        path = resolved;
    }
    Ok(path)
}

/// Joins an absolute path, another one and what follows it, without `.`, `..` and empty names.
fn without_dots([directory, target, rest]: &[&[u8]; 3]) -> Vec<u8> {
    let begin = if target.starts_with(b"/") {
        &b""[..]
    } else {
        *directory
    };
    let all = [begin, b"/", target, rest].concat();
    let mut names: Vec<&[u8]> = Vec::new();
    for name in all.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    [b"/", names.join(&b'/').as_slice()].concat()
}

/// Returns the type of a file.
fn kind_of(status: &Status) -> libc::mode_t {
    status[1] as libc::mode_t & libc::S_IFMT
}

/// Returns the target of a symbolic link.
///
/// [readlink(2)](https://man7.org/linux/man-pages/man2/readlink.2.html)
fn read_link(path: &CStr) -> Result<Vec<u8>, Errno> {
    let mut target = Vec::<u8>::with_capacity(libc::PATH_MAX as usize);
    // SAFETY: the path is NUL-terminated; the kernel writes no more than the capacity.
    let length = repeated(|| unsafe {
        libc::readlink(path.as_ptr(), target.as_mut_ptr().cast(), target.capacity()) as c_int
    })?;
    // SAFETY: the kernel has written so many bytes.
    unsafe { target.set_len(length.unsigned_abs() as usize) };
    target.shrink_to_fit();
    Ok(target)
}

/// Makes the next one of a directory and those above it. Returns the first that was made, once all
/// are there.
fn make_next(call: &mut Call) -> Result<Answer, Errno> {
    let Making { missing, first } = &mut call.making;
    let next = missing.last().unwrap_or(&call.path);
    match with_number(libc::mkdir, next, call.bits as libc::mode_t) {
        Ok(_) => {
            first.get_or_insert_with(|| next.clone());
        }
        Err(Errno(libc::ENOENT)) => {
            let bytes = next.to_bytes();
            let slash = bytes.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
            let parent = CString::new(&bytes[..slash]).unwrap_or_default();
            if parent.is_empty() {
                return Err(Errno(libc::ENOENT));
            }
            missing.push(parent);
            return Ok(Answer::More);
        }
        Err(Errno(libc::EEXIST)) if is_directory(next) => {}
        Err(errno) => return Err(errno),
    }
    if missing.pop().is_some() {
        return Ok(Answer::More);
    }
    Ok(first
        .take()
        .map_or(Answer::Nothing, |path| Answer::Text(path.into_bytes())))
}

/// Tells whether a path leads to a directory.
pub(crate) fn is_directory(path: &CStr) -> bool {
    status(path, true).is_ok_and(|status| kind_of(&status) == libc::S_IFDIR)
}

/// Sets the times of a file, in seconds since 1970.
///
/// [utimensat(2)](https://man7.org/linux/man-pages/man2/utimensat.2.html)
fn set_times(
    path: &CStr,
    Times {
        access,
        modification,
    }: Times,
) -> Result<Answer, Errno> {
    let times = [access, modification].map(|seconds| {
        let mut time = libc::timespec {
            tv_sec: seconds as _,
            tv_nsec: ((seconds - seconds.trunc()) * 1e9) as libc::c_long,
        };
        if time.tv_nsec < 0 {
            time.tv_nsec += 1_000_000_000;
            time.tv_sec -= 1;
        }
        time
    });
    // SAFETY: the path is NUL-terminated, and there are two times.
    repeated(|| unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0) })
        .map(|_| Answer::Nothing)
}
