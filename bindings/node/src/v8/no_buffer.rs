//! Where V8 makes no Buffers over memory of ours: its C++ interface was not tried on this system.

use std::ffi::c_void;

use napi_sys as sys;

type Deleter = unsafe extern "C" fn(data: *mut c_void, length: usize, owner: *mut c_void);

/// Would make Buffers over memory of our own; there is none.
#[derive(Clone, Copy)]
pub(crate) enum Buffers {}

impl Buffers {
    pub(crate) fn detect(_env: sys::napi_env, _known: bool) -> Option<Self> {
        None
    }

    /// # Safety
    /// None is needed: there is no value to call this on.
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
