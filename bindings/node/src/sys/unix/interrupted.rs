//! The error of a system call, and calls that signals interrupt.

use std::ffi::c_int;

use smallfry::raw::Errno;

/// Repeats a call that a signal has interrupted.
pub(super) fn repeated(mut call: impl FnMut() -> c_int) -> Result<c_int, Errno> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result);
        }
        let errno = last_errno();
        if errno.0 != libc::EINTR {
            return Err(errno);
        }
    }
}

/// Returns the error of the last system call of this thread.
pub(super) fn last_errno() -> Errno {
    Errno(
        std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
    )
}
