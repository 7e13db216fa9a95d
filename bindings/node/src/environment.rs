//! The state of one JavaScript environment (the main thread or a worker) that all parts of the
//! addon share.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use napi_sys as sys;
use smallfry_transcode::DecodeScratch;

use crate::caches::Caches;
use crate::contents::Maker;
use crate::mailbox::Mailbox;
use crate::sys::metadata::Status;
use crate::text::{Strings, view_bytes};
use crate::value::{arguments, guarded, is_string, reference};

/// A read buffer above this size is freed after its call. In bytes.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// The state of one environment. It is never freed.
pub(crate) struct Environment {
    pub(crate) strings: Strings,
    pub(crate) maker: Maker,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) caches: Caches,
    /// On this runtime, node:fs calls `write` for a callback even if there are no bytes.
    pub(crate) writes_nothing: bool,
    /// The memory of an array of JavaScript's, in which it finds the status of a file; null before
    /// it has given one.
    status: Cell<*mut Status>,
    /// Keeps the event loop alive while it is referenced.
    waker: sys::napi_threadsafe_function,
    /// Jobs and sessions that keep the event loop alive.
    pending: Cell<u32>,
    reading: RefCell<ReadBuffers>,
}

/// Memory for the contents of a file on their way to a value.
#[derive(Default)]
pub(crate) struct ReadBuffers {
    pub(crate) bytes: Vec<u8>,
    pub(crate) decoded: DecodeScratch,
}

impl Environment {
    pub(crate) fn new(
        strings: Strings,
        maker: Maker,
        writes_nothing: bool,
        waker: sys::napi_threadsafe_function,
    ) -> Self {
        Self {
            strings,
            maker,
            mailbox: Arc::new(Mailbox::new(waker)),
            caches: Caches::default(),
            writes_nothing,
            status: Cell::new(ptr::null_mut()),
            waker,
            pending: Cell::new(0),
            reading: RefCell::default(),
        }
    }

    /// Takes an array of 18 numbers of 8 bytes, in which JavaScript wants the status of files.
    pub(crate) fn set_status_array(&self, env: sys::napi_env, array: sys::napi_value) {
        let memory = view_bytes(env, array);
        if memory.len() == size_of::<Status>() {
            // The array lives as long as the environment. Its memory is not moved, since only
            // `lib/` can reach it.
            reference(env, array);
            self.status.set(memory.as_ptr().cast_mut().cast());
        }
    }

    /// Puts the status of a file into the array, as bigints or as doubles.
    pub(crate) fn show_status(&self, status: &Status, as_bigints: bool) {
        let place = self.status.get();
        if place.is_null() {
            return;
        }
        let fields = if as_bigints {
            *status
        } else {
            // Times before 1970 are negative, other fields never are.
            status.map(|field| (field.cast_signed() as f64).to_bits())
        };
        // SAFETY: the array has room for one status, and JavaScript does not run now.
        unsafe { place.write_unaligned(fields) };
    }

    /// Copies the bytes to be written: those of a view, or of a string in UTF-8.
    pub(crate) fn bytes_of(&self, env: sys::napi_env, data: sys::napi_value) -> Vec<u8> {
        if is_string(env, data) {
            self.strings.to_vec(env, data)
        } else {
            view_bytes(env, data).to_vec()
        }
    }

    /// Lends empty buffers that keep their memory between calls.
    pub(crate) fn with_read_buffers<R>(&self, use_them: impl FnOnce(&mut ReadBuffers) -> R) -> R {
        let mut buffers = self.reading.take();
        let result = use_them(&mut buffers);
        if buffers.bytes.capacity() <= MAX_KEPT_BUFFER {
            buffers.bytes.clear();
            self.reading.replace(buffers);
        }
        result
    }

    /// Frees the memory that it keeps between calls. Call it when the environment ends. The value
    /// itself stays, because a hook of another addon may run later and still call a function.
    pub(crate) fn release(&self) {
        self.strings.release();
        self.caches.release();
        self.reading.take();
    }

    /// Keeps the event loop alive until [`release_loop`](Self::release_loop) was called as often.
    /// Returns true if something else keeps it alive already.
    pub(crate) fn hold_loop(&self, env: sys::napi_env) -> bool {
        let pending = self.pending.get();
        if pending == 0 {
            // SAFETY: on the environment's own thread, before it goes away.
            unsafe { sys::napi_ref_threadsafe_function(env, self.waker) };
        }
        self.pending.set(pending + 1);
        pending > 0
    }

    /// Undoes one [`hold_loop`](Self::hold_loop).
    pub(crate) fn release_loop(&self, env: sys::napi_env) {
        let pending = self.pending.get() - 1;
        self.pending.set(pending);
        if pending == 0 {
            // SAFETY: as in `hold_loop`.
            unsafe { sys::napi_unref_threadsafe_function(env, self.waker) };
        }
    }
}

/// Runs the body of a native function as [`guarded`], with the state that the function was
/// [defined](crate::value::define) with, and its arguments: `undefined` where the caller gave fewer
/// than `N`.
///
/// `S` must be the type of that state. Each module that has functions defines all of them with one
/// state.
#[inline]
pub(crate) fn called<S: 'static, const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&'static S, [sys::napi_value; N]) -> sys::napi_value,
) -> sys::napi_value {
    guarded(env, || {
        let (values, state): (_, *mut c_void) = arguments(env, info);
        // SAFETY: the function was defined with a state of this type, which is never freed.
        body(unsafe { &*state.cast::<S>() }, values)
    })
}
