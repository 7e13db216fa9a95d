//! Functions of V8 itself, for what Node-API cannot do, where they are known to be safe.
//!
//! The `node` executable exports V8's C++ functions. They are looked up by name at start. They are
//! used only on Node versions and systems on which this was tested, and only after they have passed
//! a test on values made for it. Everywhere else (Bun, Deno, Electron, other versions, other
//! systems) Node-API does the same with one copy more.

#[cfg_attr(unix, path = "buffer.rs")]
#[cfg_attr(windows, path = "no_buffer.rs")]
mod buffer;
mod isolate;
mod string;

pub(crate) use buffer::Buffers;
pub(crate) use string::{Characters, Engine};

/// True if this build is for a system on which V8's functions were tested. JavaScript tells which
/// runtime it is.
pub(crate) const TRIED_SYSTEM: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));
