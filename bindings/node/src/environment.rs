//! What one JavaScript environment (the main thread or a worker) keeps.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use napi_sys as sys;
use smallfry_transcode::DecodeScratch;

use crate::bulk::Sessions;
use crate::contents::Maker;
use crate::jobs::{Client, Finished, Turn};
use crate::package_json::PackageJson;
use crate::text::{Strings, view_bytes};
use crate::value::{arguments, guarded, is_string};

/// A read buffer above this size is not kept between calls. In bytes.
const KEPT_READ_BUFFER: usize = 1 << 20;

/// State of one environment; every native function carries a pointer to it.
pub(crate) struct Environment {
    pub(crate) strings: Strings,
    pub(crate) maker: Maker,
    pub(crate) client: Arc<Client>,
    /// This runtime's callback writes call `write` even for no bytes.
    pub(crate) writes_nothing: bool,
    /// Keeps the event loop alive while referenced.
    pub(crate) waker: sys::napi_threadsafe_function,
    /// `complete(id, code, value)`, called for each finished job.
    pub(crate) complete: Cell<sys::napi_ref>,
    /// Jobs handed in and not yet answered; the event loop is kept alive while there are any.
    pub(crate) pending: Cell<u32>,
    /// Finished jobs that wait for a callback scope of their own.
    pub(crate) arrived: RefCell<VecDeque<Finished>>,
    /// Calls for many files that are under way.
    pub(crate) sessions: Sessions,
    /// Those of them that have results.
    pub(crate) ready: RefCell<Vec<u32>>,
    pub(crate) turn: Turn,
    /// `rest()`, called when there is more to do and other things come first.
    pub(crate) rest: Cell<sys::napi_ref>,
    /// `advance(id, done, failed, bytes, ended)`, called when a session has new results.
    pub(crate) advance: Cell<sys::napi_ref>,
    pub(crate) package_json: PackageJson,
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
        client: Arc<Client>,
        waker: sys::napi_threadsafe_function,
    ) -> Self {
        Self {
            strings,
            maker,
            writes_nothing,
            client,
            waker,
            complete: Cell::new(ptr::null_mut()),
            pending: Cell::new(0),
            arrived: RefCell::default(),
            sessions: Sessions::default(),
            ready: RefCell::default(),
            turn: Turn::default(),
            rest: Cell::new(ptr::null_mut()),
            advance: Cell::new(ptr::null_mut()),
            package_json: PackageJson::default(),
            reading: RefCell::default(),
        }
    }

    /// # Safety
    /// `pointer` is the data pointer of a function defined with this environment, called by it.
    #[inline]
    pub(crate) unsafe fn borrow<'a>(pointer: *mut c_void) -> &'a Self {
        // SAFETY: by the contract; environments are freed after their last function call.
        unsafe { &*pointer.cast::<Self>() }
    }

    /// A string or a view as bytes to be written, in memory of its own.
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
        if buffers.bytes.capacity() <= KEPT_READ_BUFFER {
            buffers.bytes.clear();
            self.reading.replace(buffers);
        }
        result
    }
}

/// Runs the body of a native function as [`guarded`], with its environment and its arguments: `undefined` where the caller gave fewer
/// than `N`. For functions of [`Function`](crate::value::Function), all of which are defined with an environment.
#[inline]
pub(crate) fn called<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&Environment, [sys::napi_value; N]) -> sys::napi_value,
) -> sys::napi_value {
    guarded(env, || {
        let (values, pointer) = arguments(env, info);
        // SAFETY: the function was defined with its environment.
        body(unsafe { Environment::borrow(pointer) }, values)
    })
}
