//! The isolate of V8 that runs on a thread.

use std::ffi::c_void;

use crate::sys::symbol;

/// Returns the isolate of the calling thread.
pub(super) type GetCurrent = unsafe extern "C" fn() -> *mut c_void;

/// Finds `v8::Isolate::GetCurrent`.
pub(super) fn get_current() -> Option<GetCurrent> {
    let function = symbol(c"_ZN2v87Isolate10GetCurrentEv")?;
    // SAFETY: the mangled name fixes the arguments; the result is a pointer.
    Some(unsafe { std::mem::transmute::<*mut c_void, GetCurrent>(function) })
}
