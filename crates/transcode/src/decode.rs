//! The bytes of a file as strings of a runtime.

use crate::convert;

/// The text of a file, in the smallest form that a runtime can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<Latin1 = Vec<u8>, Utf16 = Vec<u16>> {
    /// All bytes are ASCII, and so are already the Latin-1 string.
    Ascii,
    /// No character is above U+00FF: one byte for each.
    Latin1(Latin1),
    /// Any other well-formed text.
    Utf16(Utf16),
    /// Not UTF-8. The runtime's own decoder decides how many U+FFFD it becomes.
    Invalid,
}

/// Buffers for [`decode_with`]. Keep them from one file to the next, so that their memory is
/// allocated and paged in once.
///
/// After a text of more than [`DecodeScratch::LIMIT`] bytes, the next smaller text frees the excess
/// memory.
///
/// ```
/// use smallfry_transcode::{DecodeScratch, Decoded, decode_with};
///
/// let mut scratch = DecodeScratch::new();
/// assert_eq!(decode_with("café".as_bytes(), &mut scratch), Decoded::Latin1(&b"caf\xe9"[..]));
/// assert_eq!(decode_with("€".as_bytes(), &mut scratch), Decoded::Utf16(&[0x20ac][..]));
/// ```
#[derive(Debug, Default)]
pub struct DecodeScratch {
    latin1: Vec<u8>,
    utf16: Vec<u16>,
}

impl DecodeScratch {
    /// The maximum length in bytes for which a text gets room for its worst case, and for which
    /// that room is kept: 2 Mi.
    pub const LIMIT: usize = 2 << 20;

    /// Makes empty buffers.
    pub const fn new() -> Self {
        Self {
            latin1: Vec::new(),
            utf16: Vec::new(),
        }
    }

    /// Frees memory that only a text longer than the limit needed, unless `length` is beyond the
    /// limit too.
    fn release_oversized(&mut self, length: usize) {
        if length <= Self::LIMIT {
            if self.latin1.capacity() > Self::LIMIT {
                self.latin1 = Vec::new();
            }
            if self.utf16.capacity() > Self::LIMIT {
                self.utf16 = Vec::new();
            }
        }
    }
}

/// Decodes UTF-8 into new memory of exactly the needed size. A byte order mark is kept as U+FEFF.
///
/// ```
/// use smallfry_transcode::{Decoded, decode};
///
/// assert_eq!(decode(b"cafe"), Decoded::Ascii);
/// assert_eq!(decode("café".as_bytes()), Decoded::Latin1(b"caf\xe9".to_vec()));
/// assert_eq!(decode("€".as_bytes()), Decoded::Utf16(vec![0x20ac]));
/// assert_eq!(decode(b"\xff"), Decoded::Invalid);
/// ```
pub fn decode(bytes: &[u8]) -> Decoded {
    if is_ascii(bytes) {
        return Decoded::Ascii;
    }
    if convert::is_latin1_range(bytes) {
        let mut latin1 = Vec::new();
        if convert::utf8_to_latin1(bytes, 0, &mut latin1) {
            return Decoded::Latin1(latin1);
        }
    } else {
        let mut utf16 = Vec::new();
        if convert::utf8_to_utf16(bytes, 0, &mut utf16) {
            return Decoded::Utf16(utf16);
        }
    }
    Decoded::Invalid
}

/// Decodes UTF-8 like [`decode`], into memory that is reused. Use it if the result is copied into
/// the runtime.
pub fn decode_with<'scratch>(
    bytes: &[u8],
    scratch: &'scratch mut DecodeScratch,
) -> Decoded<&'scratch [u8], &'scratch [u16]> {
    if is_ascii(bytes) {
        return Decoded::Ascii;
    }
    scratch.release_oversized(bytes.len());
    if convert::is_latin1_range(bytes) {
        if convert::utf8_to_latin1(bytes, DecodeScratch::LIMIT, &mut scratch.latin1) {
            return Decoded::Latin1(&scratch.latin1);
        }
    } else if convert::utf8_to_utf16(bytes, DecodeScratch::LIMIT, &mut scratch.utf16) {
        return Decoded::Utf16(&scratch.utf16);
    }
    Decoded::Invalid
}

/// Returns true if all bytes are below 0x80: text that is the same in ASCII, Latin-1 and UTF-8.
///
/// ```
/// assert!(smallfry_transcode::is_ascii(b"text"));
/// assert!(!smallfry_transcode::is_ascii("é".as_bytes()));
/// ```
#[inline]
pub fn is_ascii(bytes: &[u8]) -> bool {
    convert::is_ascii(bytes)
}
