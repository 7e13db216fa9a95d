//! Bytes of a file to the string forms of a runtime.

use crate::convert;

/// What a file's bytes make, in the smallest form that a runtime can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// All ASCII: the bytes themselves are the Latin-1 string.
    Ascii,
    /// No character above U+00FF: a byte for each.
    Latin1(Vec<u8>),
    /// Anything else that is well-formed.
    Utf16(Vec<u16>),
    /// Not UTF-8. What to make of it (and how many U+FFFD) is for the runtime's own decoder to say.
    Invalid,
}

/// Above this, a byte in UTF-8 begins a character beyond U+00FF, or is an error.
const LAST_OF_LATIN1: u8 = 0xc3;

/// Decodes UTF-8. A byte order mark is kept as U+FEFF.
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
    if bytes.iter().any(|byte| *byte > LAST_OF_LATIN1) {
        convert::utf8_to_utf16(bytes).map_or(Decoded::Invalid, Decoded::Utf16)
    } else {
        convert::utf8_to_latin1(bytes).map_or(Decoded::Invalid, Decoded::Latin1)
    }
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
