//! Strings, read where V8 keeps them.
//!
//! Node-API copies every string, and does not tell a one-byte (Latin-1) string from a two-byte one.
//! V8's own `String::IsOneByte` and `String::ValueView`, a borrowed view of a flat string, do both.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use napi_sys as sys;

use super::isolate::{GetCurrent, get_current};
use crate::sys::symbol;
use crate::value::{latin1, utf16};

/// The part of V8's own interface that may be used in this process.
#[derive(Clone, Copy)]
pub(crate) enum Engine {
    /// Node-API only.
    Portable,
    /// `String::IsOneByte` may be asked.
    OneByte(IsOneByte),
    /// Strings may be read in place.
    View(ViewCalls),
}

type IsOneByte = unsafe extern "C" fn(this: *const c_void) -> bool;
type ViewNew =
    unsafe extern "C" fn(this: *mut RawView, isolate: *mut c_void, string: *const c_void);
type ViewDrop = unsafe extern "C" fn(this: *mut RawView);

#[derive(Clone, Copy)]
pub(crate) struct ViewCalls {
    get_current: GetCurrent,
    new: ViewNew,
    drop: ViewDrop,
}

/// Memory for a `v8::String::ValueView`: the flat string, a pointer to its characters, their count,
/// their width, and a guard that forbids collection. V8 13 and 14 use less than half of this.
#[repr(C, align(16))]
struct RawView {
    flat: usize,
    data: *const c_void,
    length: u32,
    is_one_byte: bool,
    rest: [u8; 104],
}

/// The characters of a flat string, where V8 keeps them.
#[derive(Clone, Copy)]
pub(crate) enum Characters<'a> {
    /// Code points up to U+00FF, a byte each.
    OneByte(&'a [u8]),
    /// UTF-16 units.
    TwoByte(&'a [u16]),
}

impl Engine {
    /// Finds the part once per environment. `known` is true when JavaScript found Node itself (not
    /// Electron, Bun or Deno) in a version on which the calls below were tested.
    pub(crate) fn detect(env: sys::napi_env, known: bool) -> Self {
        if !known {
            return Self::Portable;
        }
        let Some(one_byte) = symbol(c"_ZNK2v86String9IsOneByteEv") else {
            return Self::Portable;
        };
        // SAFETY: the symbol is `bool v8::String::IsOneByte() const`, unchanged since V8 3; a
        // member function takes `this` as its first argument in both C++ ABIs of the platforms let
        // through above.
        let one_byte = unsafe { std::mem::transmute::<*mut c_void, IsOneByte>(one_byte) };
        if !one_byte_answers(env, one_byte) {
            return Self::Portable;
        }
        match ViewCalls::find() {
            Some(calls) if calls.answers(env) => Self::View(calls),
            _ => Self::OneByte(one_byte),
        }
    }

    /// Tells whether the string is stored with one byte for each character; `None` if that cannot
    /// be known.
    pub(crate) fn is_one_byte(self, string: sys::napi_value) -> Option<bool> {
        match self {
            // SAFETY: the caller passes a handle to a string, and a napi_value is the slot that
            // `this` points to.
            Self::OneByte(call) => Some(unsafe { call(string.cast()) }),
            Self::Portable | Self::View(_) => None,
        }
    }
}

impl ViewCalls {
    fn find() -> Option<Self> {
        let get_current = get_current()?;
        let new = symbol(c"_ZN2v86String9ValueViewC1EPNS_7IsolateENS_5LocalIS0_EE")?;
        let drop = symbol(c"_ZN2v86String9ValueViewD1Ev")?;
        // SAFETY: the mangled names fix the argument types; Local<String> is one pointer passed in
        // a register (V8_TRIVIAL_ABI), which is what a napi_value is.
        unsafe {
            Some(Self {
                get_current,
                new: std::mem::transmute::<*mut c_void, ViewNew>(new),
                drop: std::mem::transmute::<*mut c_void, ViewDrop>(drop),
            })
        }
    }

    /// Calls `read` with the characters of `string`, in place. `read` must not call into the
    /// engine: collection is forbidden while the view lives.
    #[inline]
    pub(crate) fn with<R>(
        self,
        string: sys::napi_value,
        read: impl FnOnce(Characters<'_>) -> R,
    ) -> R {
        struct Guard(MaybeUninit<RawView>, ViewDrop);
        impl Drop for Guard {
            fn drop(&mut self) {
                // SAFETY: constructed by the matching constructor below and not yet destroyed.
                unsafe { (self.1)(self.0.as_mut_ptr()) }
            }
        }
        let mut guard = Guard(MaybeUninit::zeroed(), self.drop);
        // SAFETY: the isolate is the one running this callback, `string` is a live handle to a
        // string, and the memory is larger and more aligned than any known ValueView. The guard is
        // built before the constructor runs, which cannot unwind.
        unsafe { (self.new)(guard.0.as_mut_ptr(), (self.get_current)(), string.cast()) };
        // SAFETY: zeroed memory is a valid RawView, and the constructor has filled it since.
        let view = unsafe { guard.0.assume_init_ref() };
        let length = view.length as usize;
        let characters = if length == 0 {
            Characters::OneByte(&[])
        } else if view.is_one_byte {
            // SAFETY: V8 gives `length` characters at `data`, valid until the view is destroyed.
            Characters::OneByte(unsafe { std::slice::from_raw_parts(view.data.cast(), length) })
        } else {
            // SAFETY: as above, two bytes a character; V8 aligns two-byte strings to at least four.
            Characters::TwoByte(unsafe { std::slice::from_raw_parts(view.data.cast(), length) })
        };
        read(characters)
    }

    /// Tests whether views of known strings show their characters.
    fn answers(self, env: sys::napi_env) -> bool {
        let narrow: Vec<u8> = (0..61).map(|n| n * 4 + 3).collect();
        let wide: Vec<u16> = (0..67).map(|n| n * 900 + 257).collect();
        let (Some(a), Some(b)) = (latin1(env, &narrow), utf16(env, &wide)) else {
            return false;
        };
        self.with(
            a,
            |seen| matches!(seen, Characters::OneByte(bytes) if bytes == narrow),
        ) && self.with(
            b,
            |seen| matches!(seen, Characters::TwoByte(units) if units == wide),
        )
    }
}

fn one_byte_answers(env: sys::napi_env, one_byte: IsOneByte) -> bool {
    let (Some(a), Some(b)) = (latin1(env, b"na\xefve"), utf16(env, &[0x41, 0x20ac])) else {
        return false;
    };
    // SAFETY: both are live handles to strings.
    unsafe { one_byte(a.cast()) && !one_byte(b.cast()) }
}
