//! Windows: a path is UTF-16, and comes as UTF-8.

use std::borrow::Cow;
use std::path::Path;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};
use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

/// Converts a path that Java has passed, which is valid Unicode.
pub(crate) fn path_in(bytes: &[u8]) -> Cow<'_, Path> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(Path::new(text)),
        Cow::Owned(text) => Cow::Owned(text.into()),
    }
}

/// Converts a path for Java.
pub(crate) fn bytes_of(path: &Path) -> Cow<'_, [u8]> {
    match path.to_string_lossy() {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Keeps the library loaded: its threads may run when Java unloads it.
///
/// <https://learn.microsoft.com/en-us/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandleexw>
pub(crate) fn stay_loaded() {
    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    let mut module = std::ptr::null_mut();
    let address = stay_loaded as *const () as *const u16;
    // SAFETY: with this flag the name is an address in the library, which that of this function is;
    // the handle is written to a variable that lives.
    unsafe { GetModuleHandleExW(flags, address, &mut module) };
}

/// Returns the lowest address of this thread's stack.
///
/// <https://learn.microsoft.com/en-us/windows/win32/api/processthreadsapi/nf-processthreadsapi-getcurrentthreadstacklimits>
pub(crate) fn stack_end() -> Option<usize> {
    let (mut low, mut high) = (0, 0);
    // SAFETY: both are written to variables that live.
    unsafe { GetCurrentThreadStackLimits(&raw mut low, &raw mut high) };
    Some(low)
}
