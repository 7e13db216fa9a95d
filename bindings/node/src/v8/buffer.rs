//! Buffers over memory of the addon.
//!
//! Node-API has external Buffers too. But Node forbids to transfer them to a worker, while results
//! of node:fs can be transferred. Each also costs a finaliser on the main thread. An `ArrayBuffer`
//! over a `BackingStore` of V8 has neither fault. Its deleter may run on any thread.

use std::ffi::c_void;

use napi_sys as sys;

use super::isolate::{GetCurrent, get_current};
use crate::sys::symbol;

type Deleter = unsafe extern "C" fn(data: *mut c_void, length: usize, owner: *mut c_void);

/// The functions of V8 and Node that `buffer.cc` calls.
#[repr(C)]
#[derive(Clone, Copy)]
struct Functions {
    new_backing_store: *mut c_void,
    destroy_backing_store: *mut c_void,
    new_array_buffer: *mut c_void,
    new_buffer: *mut c_void,
}

unsafe extern "C" {
    fn smallfry_buffer_over(
        functions: *const Functions,
        isolate: *mut c_void,
        data: *mut c_void,
        length: usize,
        deleter: Deleter,
        owner: *mut c_void,
    ) -> sys::napi_value;
}

/// Makes Buffers over memory of the addon.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    functions: Functions,
    get_current: GetCurrent,
}

impl Buffers {
    /// Finds the functions; `None` where they must not or cannot be used. `known` is as for
    /// strings.
    pub(crate) fn detect(env: sys::napi_env, known: bool) -> Option<Self> {
        if !known {
            return None;
        }
        let functions = Functions {
            new_backing_store: symbol(c"_ZN2v811ArrayBuffer15NewBackingStoreEPvmPFvS1_mS1_ES1_")?,
            destroy_backing_store: symbol(c"_ZN2v812BackingStoreD1Ev")?,
            new_array_buffer: symbol(
                c"_ZN2v811ArrayBuffer3NewEPNS_7IsolateESt10shared_ptrINS_12BackingStoreEE",
            )?,
            new_buffer: symbol(
                c"_ZN4node6Buffer3NewEPN2v87IsolateENS1_5LocalINS1_11ArrayBufferEEEmm",
            )?,
        };
        let buffers = Self {
            functions,
            get_current: get_current()?,
        };
        buffers.answers(env).then_some(buffers)
    }

    /// Makes a Buffer over `length` bytes at `data`, which live and belong to it until `deleter` is
    /// called, on any thread. `deleter` is called even if this returns `None`.
    ///
    /// # Safety
    /// The memory is as said, and the call is made on the environment's thread, in a handle scope.
    pub(crate) unsafe fn over(
        &self,
        data: *mut u8,
        length: usize,
        deleter: Deleter,
        owner: *mut c_void,
    ) -> Option<sys::napi_value> {
        // SAFETY: by the contract; the functions were found under the names that fix their types.
        let value = unsafe {
            smallfry_buffer_over(
                &raw const self.functions,
                (self.get_current)(),
                data.cast(),
                length,
                deleter,
                owner,
            )
        };
        (!value.is_null()).then_some(value)
    }

    /// Tests whether a Buffer shows the memory that it was made over.
    fn answers(&self, env: sys::napi_env) -> bool {
        unsafe extern "C" fn free(_data: *mut c_void, _length: usize, owner: *mut c_void) {
            // SAFETY: the box made below, once.
            drop(unsafe { Box::from_raw(owner.cast::<[u8; 64]>()) });
        }
        let memory = Box::into_raw(Box::new([7_u8; 64]));
        // SAFETY: the memory lives until `free` takes it.
        let Some(value) = (unsafe { self.over(memory.cast(), 64, free, memory.cast()) }) else {
            return false;
        };
        let (mut data, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: plain output arguments.
        let status =
            unsafe { sys::napi_get_buffer_info(env, value, &raw mut data, &raw mut length) };
        status == sys::Status::napi_ok && data == memory.cast() && length == 64
    }
}
