//! Linux: extended attributes, access control lists among them.

use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;
use std::ptr;

use super::BorrowedFile;
use crate::raw::Errno;
use crate::sys::platform::last_error;

/// What these say holds for the contents that were there: a hash of them, or a privilege that the system itself takes away
/// from a file that is written.
const OF_CONTENTS: [&CStr; 3] = [c"security.capability", c"security.ima", c"security.evm"];

/// A new file may have one from its directory.
const ACL: &CStr = c"system.posix_acl_access";

/// `flistxattr`, `fgetxattr`, `fsetxattr`, `fremovexattr`: gives `draft` the attributes of `old`, access control lists among
/// them.
///
/// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
pub(in crate::sys) fn keep_extended(
    old: BorrowedFile<'_>,
    draft: BorrowedFile<'_>,
) -> Result<(), Errno> {
    let wants = list(old)?;
    for name in &wants {
        if OF_CONTENTS.contains(&name.as_c_str()) {
            continue;
        }
        let value = get(old, name)?;
        if get(draft, name).as_ref() != Ok(&value) {
            set(draft, name, &value)?;
        }
    }
    let is_acl = |name: &CString| name.as_c_str() == ACL;
    if !wants.iter().any(is_acl) && list(draft)?.iter().any(is_acl) {
        // SAFETY: the name is a NUL-terminated string that outlives the call.
        if unsafe { libc::fremovexattr(draft.as_raw_fd(), ACL.as_ptr()) } != 0 {
            return Err(last_error());
        }
    }
    Ok(())
}

fn list(file: BorrowedFile<'_>) -> Result<Vec<CString>, Errno> {
    let found = fill(|buffer, length| {
        // SAFETY: the system writes at most `length` bytes to the buffer, which is that long or not there at all.
        unsafe { libc::flistxattr(file.as_raw_fd(), buffer.cast(), length) }
    });
    match found {
        Ok(list) => Ok(list
            .split_inclusive(|&byte| byte == 0)
            .filter_map(|name| CStr::from_bytes_with_nul(name).ok())
            .map(CStr::to_owned)
            .collect()),
        // A file system without attributes has none to keep.
        Err(Errno(libc::EOPNOTSUPP)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn get(file: BorrowedFile<'_>, name: &CStr) -> Result<Vec<u8>, Errno> {
    fill(|buffer, length| {
        // SAFETY: the name is NUL-terminated; the system writes at most `length` bytes to the buffer, which is that long or not
        // there at all.
        unsafe { libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), buffer.cast(), length) }
    })
}

fn set(file: BorrowedFile<'_>, name: &CStr, value: &[u8]) -> Result<(), Errno> {
    // SAFETY: the name is NUL-terminated, and the value has the length that is told; both outlive the call, which only reads
    // them.
    let result = unsafe {
        libc::fsetxattr(
            file.as_raw_fd(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

/// Asks for something whose length is not known, once more when it has become longer.
fn fill(call: impl Fn(*mut u8, usize) -> libc::ssize_t) -> Result<Vec<u8>, Errno> {
    // Few files have more than a label and an access control list.
    let mut buffer = [0_u8; 256];
    match usize::try_from(call(buffer.as_mut_ptr(), buffer.len())) {
        Ok(length) => return Ok(buffer[..length].to_vec()),
        Err(_) => match last_error() {
            Errno(libc::ERANGE) => {}
            error => return Err(error),
        },
    }
    loop {
        let length = usize::try_from(call(ptr::null_mut(), 0)).map_err(|_| last_error())?;
        // Not 0, which would ask for the length again.
        let mut buffer = vec![0; length.max(1)];
        match usize::try_from(call(buffer.as_mut_ptr(), buffer.len())) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(_) => match last_error() {
                Errno(libc::ERANGE) => {}
                error => return Err(error),
            },
        }
    }
}
