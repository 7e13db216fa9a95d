//! Windows: the loader, and error numbers as libuv has them.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use smallfry::raw::{BorrowedFile, Errno};
use smallfry::{Error, Operation};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_FILE_EXISTS, ERROR_FILE_NOT_FOUND,
    ERROR_NOT_SUPPORTED, ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
    GetModuleHandleW, GetProcAddress,
};

use super::metadata::{Answer, Call};

#[path = "windows/errors.rs"]
mod errors;

pub(crate) use errors::{EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, node_errno};

/// Does nothing: here JavaScript leaves calls for paths to node:fs.
pub(crate) fn perform(_call: &mut Call) -> Result<Answer, Errno> {
    Err(Errno(ERROR_NOT_SUPPORTED.cast_signed()))
}

/// Tells whether an error of such a call is reported as it is.
pub(crate) fn is_plain(_errno: Errno) -> bool {
    false
}

/// Makes the functions of Node-API callable. They are looked up in the program that has loaded this
/// library, whatever its name: a library linked to `node.exe` would not load elsewhere.
pub(crate) fn connect() {
    static HOST: OnceLock<()> = OnceLock::new();
    HOST.get_or_init(|| {
        // SAFETY: before any function of Node-API is called; the program is never unloaded, so the
        // handle may go.
        drop(unsafe { napi_sys::setup() });
    });
}

/// Keeps this library loaded: its threads may outlive the worker that loaded it.
///
/// [GetModuleHandleEx](https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandleexw)
pub(crate) fn pin_library() {
    let mut handle = ptr::null_mut();
    let address: *const () = pin_library as *const ();
    // SAFETY: with this flag the name is an address inside a library, which that of a function in
    // it is.
    unsafe {
        GetModuleHandleExW(
            GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
            address.cast(),
            &raw mut handle,
        );
    }
}

/// Finds a function that the program exports.
///
/// [GetProcAddress](https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getprocaddress)
pub(crate) fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle of the program is always valid, and the name is NUL-terminated.
    let address = unsafe { GetProcAddress(GetModuleHandleW(ptr::null()), name.as_ptr().cast()) };
    address.map(|function| function as *mut c_void)
}

/// True if the end of a process ends its other threads first, wherever they are.
pub(crate) const ENDS_THREADS: bool = true;

/// Does nothing: when a library is told that the process ends, its threads have been ended already.
/// `lib/native.ts` waits in the `exit` event instead.
pub(crate) fn at_exit(_work: extern "C" fn()) {}

/// A descriptor that stays the caller's: never, since the numbers are known only to the C runtime
/// inside the program.
#[derive(Clone, Copy)]
pub(crate) enum Descriptor {}

impl Descriptor {
    pub(crate) fn new(_number: i32) -> Option<Self> {
        None
    }

    pub(crate) fn borrow(&self) -> BorrowedFile<'_> {
        match *self {}
    }
}

/// Converts a path that JavaScript has passed as UTF-8.
pub(crate) fn path_in(bytes: &[u8]) -> Cow<'_, Path> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(path) => Cow::Borrowed(Path::new(path)),
        Cow::Owned(path) => Cow::Owned(PathBuf::from(path)),
    }
}

/// Converts a path as [`path_in`] does, and never makes a copy. Returns an empty path for bytes
/// that are not UTF-8, which do not come from JavaScript.
pub(crate) fn borrowed_path(bytes: &CStr) -> &Path {
    Path::new(bytes.to_str().unwrap_or_default())
}

/// Tells whether node:fs is to repeat a failed `open`. It opens directories, whose reading then
/// fails, and has its own way to cut what is not a regular file. So only errors are reported that
/// mean the same to both.
pub(crate) fn is_for_runtime(errno: Errno) -> bool {
    !matches!(
        errno.0.cast_unsigned(),
        ERROR_FILE_NOT_FOUND
            | ERROR_PATH_NOT_FOUND
            | ERROR_FILE_EXISTS
            | ERROR_ALREADY_EXISTS
            | ERROR_SHARING_VIOLATION
    )
}

/// Tells whether an error is that a directory could not be opened; node:fs reports a directory
/// then.
pub(crate) fn is_refused_directory(error: &Error) -> bool {
    error.operation() == Operation::Open
        && error.raw_os_error().map(i32::cast_unsigned) == Some(ERROR_ACCESS_DENIED)
        && error.path().is_some_and(Path::is_dir)
}
