//! Unix: libc and the dynamic linker.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use smallfry::Error;
use smallfry::raw::{BorrowedFile, Errno};

#[cfg(target_os = "linux")]
#[path = "unix/cached.rs"]
mod cached;
#[path = "unix/directory.rs"]
mod directory;
#[path = "unix/interrupted.rs"]
mod interrupted;
#[path = "unix/metadata.rs"]
mod metadata;

#[cfg(target_os = "linux")]
pub(crate) use cached::{Cached, look_up};
pub(crate) use directory::{DIRECTORY, LINK, Names, UNKNOWN};
pub(crate) use metadata::{is_directory, is_plain, perform};

pub(crate) const EIO: i32 = libc::EIO;
pub(crate) const EISDIR: i32 = libc::EISDIR;
pub(crate) const ELOOP: i32 = libc::ELOOP;
pub(crate) const ENOMEM: i32 = libc::ENOMEM;
pub(crate) const ENAMETOOLONG: i32 = libc::ENAMETOOLONG;
pub(crate) const ENOTDIR: i32 = libc::ENOTDIR;

/// Does nothing: the dynamic linker has made the functions of Node-API callable.
pub(crate) fn connect() {}

/// Keeps this library loaded: its threads may outlive the worker that loaded it.
pub(crate) fn pin_library() {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr fills the structure for an address of this library, whose name is then a valid
    // C string.
    unsafe {
        if libc::dladdr(pin_library as *const _, info.as_mut_ptr()) != 0 {
            libc::dlopen(
                info.assume_init().dli_fname,
                libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}

/// Finds a function of the host process by its symbol.
pub(crate) fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym with RTLD_DEFAULT only reads the tables of loaded objects; the name is
    // NUL-terminated.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// True if the end of a process ends its other threads first, wherever they are.
pub(crate) const ENDS_THREADS: bool = false;

/// Has `work` run when the process ends.
pub(crate) fn at_exit(work: extern "C" fn()) {
    // SAFETY: `work` is static, and this library is never unloaded.
    unsafe { libc::atexit(work) };
}

/// A descriptor that stays the caller's.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor(i32);

impl Descriptor {
    /// `None` where the numbers are not the system's own.
    #[expect(clippy::unnecessary_wraps, reason = "on Windows there are none")]
    pub(crate) fn new(number: i32) -> Option<Self> {
        Some(Self(number))
    }

    pub(crate) fn borrow(&self) -> BorrowedFile<'_> {
        // SAFETY: JavaScript sends non-negative numbers only; the caller promises, as to node:fs,
        // that it keeps the descriptor open during the call. A closed number gives EBADF.
        unsafe { BorrowedFd::borrow_raw(self.0) }
    }
}

/// Converts a path that JavaScript has passed as UTF-8.
pub(crate) fn path_in(bytes: &[u8]) -> Cow<'_, Path> {
    Cow::Borrowed(Path::new(OsStr::from_bytes(bytes)))
}

/// Converts a path as [`path_in`] does, and never makes a copy.
pub(crate) fn borrowed_path(bytes: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(bytes.to_bytes()))
}

/// Returns the number that Node shows for an error of the system, without its sign.
#[inline]
pub(crate) fn node_errno(errno: i32) -> i32 {
    errno
}

/// Tells whether node:fs is to repeat a failed `open`, which may succeed in its own way.
pub(crate) fn is_for_runtime(_errno: Errno) -> bool {
    false
}

/// Tells whether an error is that a directory could not be opened. Here a directory opens, and
/// fails to be read.
pub(crate) fn is_refused_directory(_error: &Error) -> bool {
    false
}
