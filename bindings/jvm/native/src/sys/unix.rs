//! Unix: a path is bytes.

use std::borrow::Cow;
use std::ffi::OsStr;
#[cfg(not(target_vendor = "apple"))]
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Converts a path that Java has passed.
pub(crate) fn path_in(bytes: &[u8]) -> Cow<'_, Path> {
    Cow::Borrowed(Path::new(OsStr::from_bytes(bytes)))
}

/// Converts a path for Java.
pub(crate) fn bytes_of(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_os_str().as_bytes())
}

/// Does nothing: `build.rs` tells the linker to keep the library loaded.
pub(crate) const fn stay_loaded() {}

/// Returns the lowest address of this thread's stack.
///
/// [pthread_getattr_np(3)](https://man7.org/linux/man-pages/man3/pthread_getattr_np.3.html)
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn stack_end() -> Option<usize> {
    let mut attributes = MaybeUninit::uninit();
    let (mut end, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are made by the first call, read by the second only if that was done,
    // and given up by the third.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let failed = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut end, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (failed == 0).then(|| end.addr())
    }
}

/// Returns the lowest address of this thread's stack.
#[cfg(target_vendor = "apple")]
pub(crate) fn stack_end() -> Option<usize> {
    // SAFETY: both only read what is known of the thread that asks.
    let (top, size) = unsafe {
        let thread = libc::pthread_self();
        (
            libc::pthread_get_stackaddr_np(thread),
            libc::pthread_get_stacksize_np(thread),
        )
    };
    top.addr().checked_sub(size)
}
