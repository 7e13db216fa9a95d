//! Functions of V8 itself, for what Node-API cannot do, where they are known to be safe.
//!
//! The `node` executable exports V8's C++ functions. They are looked up by name at start. They are
//! used only on Node versions and systems on which this was tested, and only after they have passed
//! a test on values made for it. Everywhere else (Bun, Deno, Electron, other versions, other
//! systems) Node-API does the same with one copy more.

#[cfg_attr(unix, path = "buffer.rs")]
#[cfg_attr(windows, path = "no_buffer.rs")]
mod buffer;
mod string;

use std::ffi::c_void;

pub(crate) use buffer::Buffers;
pub(crate) use string::{Characters, Engine};

use crate::sys::symbol;

type GetCurrent = unsafe extern "C" fn() -> *mut c_void;

/// True if this build is for a system on which V8's functions were tested. JavaScript tells which
/// runtime it is.
pub(crate) const TRIED_SYSTEM: bool = cfg!(all(target_os = "linux", target_pointer_width = "64"));

/// `v8::Isolate::GetCurrent`.
fn get_current() -> Option<GetCurrent> {
    let function = symbol(c"_ZN2v87Isolate10GetCurrentEv")?;
    // SAFETY: the mangled name fixes the arguments; the result is a pointer.
    Some(unsafe { std::mem::transmute::<*mut c_void, GetCurrent>(function) })
}
