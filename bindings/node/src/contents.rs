//! Makes JavaScript values from the bytes of files.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use napi_sys as sys;
use smallfry::bulk::Bytes;
use smallfry_transcode::{DecodeScratch, Decoded, decode, decode_with};

use crate::sys::symbol;
use crate::v8::Buffers;
use crate::value::{answered, latin1, utf8, utf16};

/// The maximum size of a file in bytes. node:fs, which knows its own limits, reads larger files, on
/// which nothing is gained.
pub(crate) const MAX_READ: u64 = 64 << 20;

type ExternalLatin1 = unsafe extern "C" fn(
    sys::napi_env,
    *mut c_void,
    usize,
    sys::napi_finalize,
    *mut c_void,
    *mut sys::napi_value,
    *mut bool,
) -> sys::napi_status;

/// Makes values in one environment.
#[derive(Clone, Copy)]
pub(crate) struct Maker {
    external_latin1: Option<ExternalLatin1>,
    buffers: BuffersOver,
}

/// The ways to make a Buffer over memory of the addon.
#[derive(Clone, Copy)]
enum BuffersOver {
    /// V8 itself makes it.
    Store(Buffers),
    /// Node-API makes it, on runtimes where such Buffers can be transferred.
    External,
    /// There is no way: contents are copied.
    Nothing,
}

/// A value over contents.
pub(crate) struct Value {
    pub(crate) value: sys::napi_value,
    /// The bytes that the engine counts as external memory.
    pub(crate) external: usize,
}

/// The contents of a file, in the form in which the engine keeps them.
pub(crate) enum Contents {
    /// Bytes for a Buffer.
    Bytes(Bytes),
    /// ASCII, for a string.
    Ascii(Bytes),
    /// Code points up to U+00FF, for a string.
    Latin1(Vec<u8>),
    Utf16(Vec<u16>),
    /// Bytes that are not UTF-8. The engine decides how they read.
    Undecoded(Bytes),
}

impl Contents {
    /// Decodes as far as can be done off the main thread.
    pub(crate) fn new(contents: Bytes, utf8: bool) -> Self {
        if !utf8 {
            return Self::Bytes(contents);
        }
        match decode(&contents) {
            Decoded::Ascii => Self::Ascii(contents),
            Decoded::Latin1(bytes) => Self::Latin1(bytes),
            Decoded::Utf16(units) => Self::Utf16(units),
            Decoded::Invalid => Self::Undecoded(contents),
        }
    }
}

impl Contents {
    /// Returns the length in bytes. Text that was decoded counts as it is in memory.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Ascii(bytes) | Self::Undecoded(bytes) => bytes.len(),
            Self::Latin1(bytes) => bytes.len(),
            Self::Utf16(units) => units.len() * 2,
        }
    }
}

impl Maker {
    /// Finds the ways of a runtime. `known` is true where its own interface was tested, `lends`
    /// where external Buffers of Node-API are as good as any.
    pub(crate) fn detect(env: sys::napi_env, known: bool, lends: bool) -> Self {
        let external_latin1 = symbol(c"node_api_create_external_string_latin1").map(|symbol| {
            // SAFETY: the symbol has had this signature since it was added.
            unsafe { std::mem::transmute::<*mut c_void, ExternalLatin1>(symbol) }
        });
        Self {
            external_latin1,
            buffers: match Buffers::detect(env, known) {
                Some(buffers) => BuffersOver::Store(buffers),
                None if lends => BuffersOver::External,
                None => BuffersOver::Nothing,
            },
        }
    }

    /// Makes the value of `contents`. Returns `None` if the engine refuses a string over its limit,
    /// or has no memory.
    pub(crate) fn make(self, env: sys::napi_env, contents: Contents) -> Option<Value> {
        let external = contents.len();
        let value = match contents {
            Contents::Bytes(contents) if contents.shareable().is_some() => match self.buffers {
                BuffersOver::Store(buffers) => buffer_over(buffers, contents),
                BuffersOver::External => external_buffer(env, contents),
                BuffersOver::Nothing => buffer(env, &contents),
            },
            Contents::Bytes(contents) => buffer(env, &contents),
            Contents::Ascii(contents) if contents.shareable().is_some() => {
                return self.external_ascii(env, contents);
            }
            Contents::Ascii(contents) => return on_heap(latin1(env, &contents)),
            Contents::Latin1(bytes) => return on_heap(latin1(env, &bytes)),
            Contents::Utf16(units) => return on_heap(utf16(env, &units)),
            Contents::Undecoded(contents) => return on_heap(utf8(env, &contents)),
        };
        value.map(|value| Value { value, external })
    }

    fn external_ascii(self, env: sys::napi_env, contents: Bytes) -> Option<Value> {
        let (Some(create), Some(data)) = (self.external_latin1, contents.shareable()) else {
            return on_heap(latin1(env, &contents));
        };
        let mut value = ptr::null_mut();
        let mut copied = false;
        let length = contents.len();
        let owner = Box::into_raw(Box::new(contents));
        adjust_external(env, length.cast_signed());
        // SAFETY: as for buffers; ASCII is Latin-1; a runtime that copies calls the finaliser
        // itself and says so.
        let status = unsafe {
            create(
                env,
                data.cast(),
                length,
                Some(drop_string),
                owner.cast(),
                &raw mut value,
                &raw mut copied,
            )
        };
        if status == sys::Status::napi_ok {
            let external = if copied { 0 } else { length };
            return Some(Value { value, external });
        }
        // SAFETY: the call was refused, so the box is still owned here.
        let contents = unsafe { Box::from_raw(owner) };
        adjust_external(env, -length.cast_signed());
        on_heap(latin1(env, &contents))
    }
}

fn on_heap(value: Option<sys::napi_value>) -> Option<Value> {
    let external = 0;
    value.map(|value| Value { value, external })
}

/// Makes a Buffer over the contents' own memory.
fn buffer_over(buffers: Buffers, contents: Bytes) -> Option<sys::napi_value> {
    let data = contents.shareable()?;
    let length = contents.len();
    let owner = Box::into_raw(Box::new(contents));
    // SAFETY: the memory lives until the deleter drops its owner, and is not reached otherwise;
    // results are made in the handle scope of their delivery.
    unsafe { buffers.over(data, length, delete_bytes, owner.cast()) }
}

/// Makes a Buffer as [`buffer_over`] does, by Node-API.
fn external_buffer(env: sys::napi_env, contents: Bytes) -> Option<sys::napi_value> {
    let data = contents.shareable()?;
    let length = contents.len();
    let owner = Box::into_raw(Box::new(contents));
    let mut value = ptr::null_mut();
    // SAFETY: as for `buffer_over`.
    let status = unsafe {
        sys::napi_create_external_buffer(
            env,
            length,
            data.cast(),
            Some(drop_bytes),
            owner.cast(),
            &raw mut value,
        )
    };
    if status == sys::Status::napi_ok {
        return Some(value);
    }
    // SAFETY: the call was refused, so the box is still owned here.
    let contents = unsafe { Box::from_raw(owner) };
    buffer(env, &contents)
}

/// The deleter of Buffers.
unsafe extern "C" fn delete_bytes(_data: *mut c_void, _length: usize, owner: *mut c_void) {
    // SAFETY: `owner` is the box made with the Buffer, and deleters run once.
    drop(unsafe { Box::from_raw(owner.cast::<Bytes>()) });
}

/// The finaliser of values that Node-API makes over the contents' memory.
unsafe extern "C" fn drop_bytes(_env: sys::napi_env, _data: *mut c_void, owner: *mut c_void) {
    // SAFETY: `owner` is the box made with the value, and finalisers run once.
    drop(unsafe { Box::from_raw(owner.cast::<Bytes>()) });
}

/// The finaliser of external strings.
unsafe extern "C" fn drop_string(env: sys::napi_env, _data: *mut c_void, owner: *mut c_void) {
    // SAFETY: as for `drop_bytes`.
    let contents = unsafe { Box::from_raw(owner.cast::<Bytes>()) };
    adjust_external(env, -contents.len().cast_signed());
    drop(contents);
}

/// Tells V8 that values keep so many bytes more, or fewer, than it knows. It counts those of
/// Buffers itself, and not those of strings, of which it then collects none until they have 2 GiB.
fn adjust_external(env: sys::napi_env, bytes: isize) {
    let mut all = 0;
    // SAFETY: plain output argument; finalisers may call it, too.
    unsafe { sys::napi_adjust_external_memory(env, bytes as i64, &raw mut all) };
}

/// V8 is told of external memory during a call when it has this much, and then when it has doubled.
/// Later, garbage of other kinds stays too long: 120 MiB after a call for a million files.
const MIN_TOLD: usize = 256 << 20;

/// External memory of a call's results, of which V8 is not told at once.
///
/// V8 collects garbage for every 64 MiB more. While a call is under way none of its results is
/// garbage, so V8 would look at more and more of them in vain: 16 times for a million files of
/// 1 kB.
#[derive(Default)]
pub(crate) struct External {
    told: Cell<usize>,
    untold: Cell<usize>,
}

impl External {
    /// Takes back what V8 was told of values that live until the end of the call.
    pub(crate) fn take_back(&self, env: sys::napi_env, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.untold.set(self.untold.get() + bytes);
        adjust_external(env, -bytes.cast_signed());
        if self.untold.get() >= self.told.get().max(MIN_TOLD) {
            self.tell(env);
        }
    }

    /// Tells V8 of all.
    pub(crate) fn tell(&self, env: sys::napi_env) {
        let untold = self.untold.take();
        self.told.set(self.told.get() + untold);
        if untold > 0 {
            adjust_external(env, untold.cast_signed());
        }
    }
}

/// Makes a Buffer with a copy of `bytes`.
pub(crate) fn buffer(env: sys::napi_env, bytes: &[u8]) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: Node-API copies `bytes`.
    let status = unsafe {
        sys::napi_create_buffer_copy(
            env,
            bytes.len(),
            bytes.as_ptr().cast(),
            ptr::null_mut(),
            &raw mut value,
        )
    };
    answered(status, value)
}

/// Makes a Buffer of `length` bytes, and returns its memory, which is not cleared.
pub(crate) fn buffer_to_fill<'a>(
    env: sys::napi_env,
    length: usize,
) -> Option<(sys::napi_value, &'a mut [u8])> {
    let mut value = ptr::null_mut();
    let mut data = ptr::null_mut();
    // SAFETY: plain output arguments.
    let status = unsafe { sys::napi_create_buffer(env, length, &raw mut data, &raw mut value) };
    if status != sys::Status::napi_ok || data.is_null() {
        return None;
    }
    // SAFETY: the engine gave `length` bytes, alive while the handle is, and not reachable
    // otherwise yet.
    Some((value, unsafe {
        std::slice::from_raw_parts_mut(data.cast(), length)
    }))
}

/// Makes a string from UTF-8. The engine decides how invalid sequences read.
pub(crate) fn string(
    env: sys::napi_env,
    bytes: &[u8],
    scratch: &mut DecodeScratch,
) -> Option<sys::napi_value> {
    match decode_with(bytes, scratch) {
        Decoded::Ascii => latin1(env, bytes),
        Decoded::Latin1(bytes) => latin1(env, bytes),
        Decoded::Utf16(units) => utf16(env, units),
        Decoded::Invalid => utf8(env, bytes),
    }
}
