//! From a JavaScript string to UTF-8 bytes, with as few copies as the engine allows.

use std::cell::RefCell;
use std::ops::Range;
use std::ptr;

use napi_sys as sys;
use smallfry_transcode::{Scratch, Text, encode, outruns_simdutf};

use crate::v8::{Characters, Engine};
use crate::value::string_length;

/// The maximum length of a string in UTF-16 units where Node-API copies strings. JavaScript hands
/// over longer strings in pieces, so that memory stays flat.
pub(crate) const COPY_LIMIT: i32 = 1 << 20;

/// The lengths, in UTF-16 units, of two-byte strings that would be counted before they are
/// converted: their UTF-8 may fit the scratch buffer. The runtime's own encoder is 1.36 times as
/// fast for them. For longer strings it would need memory for the whole string at once.
const COUNTED: Range<usize> = Scratch::DEFAULT_LIMIT / 3..Scratch::DEFAULT_LIMIT;

/// Reads strings for one environment; keeps its buffers between calls, which saves page faults.
pub(crate) struct Strings {
    engine: Engine,
    /// Two-byte strings of these lengths, in units, are left to the runtime's encoder.
    left: Range<usize>,
    buffers: RefCell<Buffers>,
}

#[derive(Default)]
struct Buffers {
    encoded: Scratch,
    narrow: Vec<u8>,
    wide: Vec<u16>,
}

impl Strings {
    /// `encodes_well` is true if the runtime's own encoder is as good as simdutf.
    pub(crate) fn new(engine: Engine, encodes_well: bool) -> Self {
        let leave = encodes_well && !outruns_simdutf();
        Self {
            engine,
            left: if leave { COUNTED } else { 0..0 },
            buffers: RefCell::default(),
        }
    }

    /// Frees the buffers. The next call allocates anew.
    pub(crate) fn release(&self) {
        self.buffers.take();
    }

    /// Tells whether strings are read where the engine keeps them, so that strings of any length
    /// may be passed whole.
    pub(crate) fn in_place(&self) -> bool {
        matches!(self.engine, Engine::View(_))
    }

    /// Tells whether `string` is left to the runtime's own encoder: a long two-byte string, where
    /// that encoder is as good as the one here.
    #[inline]
    pub(crate) fn leaves(&self, string: sys::napi_value) -> bool {
        let Engine::View(view) = self.engine else {
            return false;
        };
        let is_left = |characters: Characters<'_>| matches!(characters, Characters::TwoByte(units) if self.left.contains(&units.len()));
        !self.left.is_empty() && view.with(string, is_left)
    }

    /// Calls `sink` with the UTF-8 form of `string`: once where it fits the scratch buffer or is
    /// ASCII, in pieces otherwise. Lone surrogates become U+FFFD. `sink` must not call into the
    /// engine.
    #[inline]
    pub(crate) fn encode<E>(
        &self,
        env: sys::napi_env,
        string: sys::napi_value,
        sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let buffers = &mut *self.buffers.borrow_mut();
        match self.engine {
            Engine::View(view) => view.with(string, |characters| match characters {
                Characters::OneByte(bytes) => {
                    encode(Text::Latin1(bytes), &mut buffers.encoded, sink)
                }
                Characters::TwoByte(units) => {
                    encode(Text::Utf16(units), &mut buffers.encoded, sink)
                }
            }),
            _ => self.encode_copy(env, string, buffers, sink),
        }
    }

    fn encode_copy<E>(
        &self,
        env: sys::napi_env,
        string: sys::napi_value,
        buffers: &mut Buffers,
        sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = string_length(env, string);
        let narrow = self.engine.is_one_byte(string) == Some(true);
        let result = if narrow {
            copy_latin1(env, string, length, &mut buffers.narrow);
            encode(Text::Latin1(&buffers.narrow), &mut buffers.encoded, sink)
        } else {
            copy_utf16(env, string, length, &mut buffers.wide);
            encode(Text::Utf16(&buffers.wide), &mut buffers.encoded, sink)
        };
        if length > COPY_LIMIT as usize {
            buffers.narrow = Vec::new();
            buffers.wide = Vec::new();
        }
        result
    }

    /// Copies the UTF-8 form of `string`.
    pub(crate) fn to_vec(&self, env: sys::napi_env, string: sys::napi_value) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(()) = self.encode(env, string, |piece| {
            bytes.extend_from_slice(piece);
            Ok::<(), std::convert::Infallible>(())
        });
        bytes
    }

    /// Copies the UTF-8 form of `string` into `room` and returns its length; `None` if it does not
    /// fit.
    #[inline]
    pub(crate) fn copy_to(
        &self,
        env: sys::napi_env,
        string: sys::napi_value,
        room: &mut [u8],
    ) -> Option<usize> {
        if let Engine::View(view) = self.engine {
            let copied = view.with(string, |characters| match characters {
                Characters::OneByte(bytes) if bytes.len() <= room.len() && bytes.is_ascii() => {
                    room[..bytes.len()].copy_from_slice(bytes);
                    Some(bytes.len())
                }
                _ => None,
            });
            if copied.is_some() {
                return copied;
            }
        }
        let mut length = 0;
        // SAFETY: Node-API writes at most `room.len()` bytes, a terminating NUL among them.
        unsafe {
            sys::napi_get_value_string_utf8(
                env,
                string,
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut length,
            );
        }
        // A string that was cut short may leave up to three bytes free, where its next character
        // did not fit.
        (length + 4 < room.len()).then_some(length)
    }
}

fn copy_latin1(env: sys::napi_env, string: sys::napi_value, length: usize, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.reserve(length + 1);
    let mut copied = 0;
    // SAFETY: the buffer has room for `length` bytes and the NUL that Node-API adds; the copied
    // ones are then set.
    unsafe {
        sys::napi_get_value_string_latin1(
            env,
            string,
            buffer.as_mut_ptr().cast(),
            length + 1,
            &raw mut copied,
        );
        buffer.set_len(copied);
    }
}

fn copy_utf16(env: sys::napi_env, string: sys::napi_value, length: usize, buffer: &mut Vec<u16>) {
    buffer.clear();
    buffer.reserve(length + 1);
    let mut copied = 0;
    // SAFETY: as in `copy_latin1`, two bytes a unit.
    unsafe {
        sys::napi_get_value_string_utf16(
            env,
            string,
            buffer.as_mut_ptr(),
            length + 1,
            &raw mut copied,
        );
        buffer.set_len(copied);
    }
}

/// Returns the bytes of a Buffer, typed array or data view; none if it is detached, or is not one.
#[inline]
pub(crate) fn view_bytes<'a>(env: sys::napi_env, view: sys::napi_value) -> &'a [u8] {
    bytes_of_view(env, view).unwrap_or(&[])
}

/// Returns the bytes of a Buffer, typed array or data view; `None` if `value` is none of them.
#[inline]
pub(crate) fn bytes_of_view<'a>(env: sys::napi_env, value: sys::napi_value) -> Option<&'a [u8]> {
    let mut data = ptr::null_mut();
    let mut length = 0;
    // SAFETY: plain output arguments.
    let status = unsafe { sys::napi_get_buffer_info(env, value, &raw mut data, &raw mut length) };
    if status != sys::Status::napi_ok {
        return None;
    }
    if data.is_null() || length == 0 {
        return Some(&[]);
    }
    // SAFETY: the engine keeps the memory while the caller's argument lives, that is for this call.
    Some(unsafe { std::slice::from_raw_parts(data.cast(), length) })
}
