//! The place of `buffer.rs` on systems where V8's C++ interface was not tested.

use std::ffi::c_void;

use napi_sys as sys;

type Deleter = unsafe extern "C" fn(data: *mut c_void, length: usize, owner: *mut c_void);

/// Has no values: on this system no Buffers are made over memory of the addon.
#[derive(Clone, Copy)]
pub(crate) enum Buffers {}

impl Buffers {
    pub(crate) fn detect(_env: sys::napi_env, _known: bool) -> Option<Self> {
        None
    }

    /// # Safety
    /// No condition: there is no value to call this on.
    pub(crate) unsafe fn over(
        &self,
        _data: *mut u8,
        _length: usize,
        _deleter: Deleter,
        _owner: *mut c_void,
    ) -> Option<sys::napi_value> {
        match *self {}
    }
}
