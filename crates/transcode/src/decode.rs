//! Bytes of a file to the string forms of a runtime.

use crate::convert;

/// What a file's bytes make, in the smallest form that a runtime can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<Latin1 = Vec<u8>, Utf16 = Vec<u16>> {
    /// All ASCII: the bytes themselves are the Latin-1 string.
    Ascii,
    /// No character above U+00FF: a byte for each.
    Latin1(Latin1),
    /// Anything else that is well-formed.
    Utf16(Utf16),
    /// Not UTF-8. What to make of it (and how many U+FFFD) is for the runtime's own decoder to say.
    Invalid,
}

/// Buffers for [`decode_with`], kept from one file to the next, so that their memory is allocated and paged in once.
///
/// What they grew to for a text of more than [`DecodeScratch::LIMIT`] is freed by the next that needs less.
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
    /// 2 Mi units: up to this length a text is given room for its worst case, and that room is kept.
    pub const LIMIT: usize = 2 << 20;

    /// Allocates nothing yet.
    pub const fn new() -> Self {
        Self {
            latin1: Vec::new(),
            utf16: Vec::new(),
        }
    }

    /// Frees what only a text longer than the limit needed, when one of `length` bytes does not.
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

/// Decodes UTF-8 into memory of its own, of exactly the size. A byte order mark is kept as U+FEFF.
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

/// Decodes UTF-8 as [`decode`] does, into memory that is used again: for a result that is copied into the runtime.
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

/// Whether all bytes are below 0x80: text that is the same in ASCII, Latin-1 and UTF-8.
///
/// ```
/// assert!(smallfry_transcode::is_ascii(b"text"));
/// assert!(!smallfry_transcode::is_ascii("é".as_bytes()));
/// ```
#[inline]
pub fn is_ascii(bytes: &[u8]) -> bool {
    convert::is_ascii(bytes)
}
