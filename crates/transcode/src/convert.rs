//! One slice to UTF-8 at the end of a buffer that has room for it. The edge to simdutf, and the only unsafe code.

/// Up to this many units a plain loop beats the call into the library.
const SHORT: usize = 32;

/// UTF-8 bytes of a character that takes a surrogate pair.
pub(crate) const PAIR_LEN: usize = 4;

/// What stands for a surrogate without its partner.
pub(crate) const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

pub(crate) const fn is_high_surrogate(unit: u16) -> bool {
    unit & 0xfc00 == 0xd800
}

pub(crate) const fn is_low_surrogate(unit: u16) -> bool {
    unit & 0xfc00 == 0xdc00
}

const fn is_surrogate(unit: u16) -> bool {
    unit & 0xf800 == 0xd800
}

/// Whether all bytes are ASCII.
#[inline]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() <= SHORT {
        bytes.is_ascii()
    } else {
        simdutf::validate_ascii(bytes)
    }
}

/// The exact UTF-8 length of Latin-1.
pub(crate) fn latin1_len(bytes: &[u8]) -> usize {
    simdutf::utf8_length_from_latin1(bytes)
}

/// The exact UTF-8 length of UTF-16, with surrogates without a partner as U+FFFD.
pub(crate) fn utf16_len(units: &[u16]) -> usize {
    // A surrogate counts as three bytes, as U+FFFD does; a pair is then two too many.
    let mut length = 0;
    let mut previous_is_high = false;
    for piece in units.chunks(1 << 14) {
        let mut extra = 0_u32;
        let mut pairs = 0_u32;
        for &unit in piece {
            extra += u32::from(unit >= 0x80) + u32::from(unit >= 0x800);
        }
        for pair in piece.windows(2) {
            pairs += u32::from(is_high_surrogate(pair[0]) & is_low_surrogate(pair[1]));
        }
        pairs += u32::from(previous_is_high && piece.first().is_some_and(|u| is_low_surrogate(*u)));
        previous_is_high = piece.last().is_some_and(|u| is_high_surrogate(*u));
        length += piece.len() + extra as usize - 2 * pairs as usize;
    }
    length
}

/// Adds Latin-1 to `out` as UTF-8.
///
/// # Panics
///
/// If `out` has not the room for [`latin1_len`] bytes.
#[inline]
pub(crate) fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) {
    let room = out.capacity() - out.len();
    if bytes.len() <= SHORT {
        for &byte in bytes {
            push_char(u32::from(byte), out);
        }
        return;
    }
    assert!(
        room >= bytes.len() * 2 || room >= latin1_len(bytes),
        "no room for the text"
    );
    // SAFETY: the source is a slice; the room past the vector's length was just found to hold the exact result, which
    // is what simdutf asks for; what it says it wrote is initialised.
    unsafe {
        let end = out.as_mut_ptr().add(out.len());
        let written = simdutf::convert_latin1_to_utf8(bytes.as_ptr(), bytes.len(), end);
        out.set_len(out.len() + written);
    }
}

/// Adds UTF-16 to `out` as UTF-8, with surrogates without a partner as U+FFFD.
///
/// # Panics
///
/// If `out` has not the room for [`utf16_len`] bytes.
#[inline]
pub(crate) fn push_utf16(units: &[u16], out: &mut Vec<u8>) {
    if units.len() <= SHORT {
        push_utf16_plainly(units, units.len(), out);
    } else {
        push_long_utf16(units, out);
    }
}

fn push_long_utf16(mut units: &[u16], out: &mut Vec<u8>) {
    let room = out.capacity() - out.len();
    assert!(
        room >= units.len() * 3 || room >= utf16_len(units),
        "no room for the text"
    );
    while units.len() > SHORT {
        // SAFETY: the source is a slice; the room past the vector's length holds the exact result of what is left of
        // the text (checked above; each round takes as much room as its part of the text needs), which is what simdutf
        // asks for and never less than what it writes before it meets an error.
        let result = unsafe {
            let end = out.as_mut_ptr().add(out.len());
            simdutf::convert_utf16_to_utf8_with_errors(units.as_ptr(), units.len(), end)
        };
        if result.error == simdutf::ErrorCode::Success {
            // SAFETY: simdutf has written that many bytes there.
            unsafe { out.set_len(out.len() + result.count) };
            return;
        }
        // The library says where in the source it stopped, not how far it wrote. What is before is well-formed.
        let (good, rest) = units.split_at(result.count);
        let written = simdutf::utf8_length_from_utf16(good);
        // SAFETY: the conversion of the well-formed part is complete, and that is its length.
        unsafe { out.set_len(out.len() + written) };
        // On plainly for a while: where there is one lone surrogate there are often more, and a call for each costs.
        let taken = push_utf16_plainly(rest, SHORT.min(rest.len()), out);
        units = &rest[taken..];
    }
    push_utf16_plainly(units, units.len(), out);
}

/// Adds the first `count` units, and the second half of a pair that begins in them; returns the number of units taken.
#[inline]
fn push_utf16_plainly(units: &[u16], count: usize, out: &mut Vec<u8>) -> usize {
    let mut index = 0;
    while index < count {
        let unit = units[index];
        index += 1;
        if !is_surrogate(unit) {
            push_char(u32::from(unit), out);
            continue;
        }
        match units.get(index) {
            Some(&low) if is_high_surrogate(unit) && is_low_surrogate(low) => {
                push_pair(unit, low, out);
                index += 1;
            }
            _ => out.extend_from_slice(REPLACEMENT),
        }
    }
    index
}

/// Adds a character below U+10000 that is not a surrogate.
#[inline]
fn push_char(character: u32, out: &mut Vec<u8>) {
    let continuation = |shift: u32| 0x80 | (character >> shift & 0x3f) as u8;
    match character {
        0..0x80 => out.push(character as u8),
        0x80..0x800 => out.extend_from_slice(&[0xc0 | (character >> 6) as u8, continuation(0)]),
        _ => out.extend_from_slice(&[
            0xe0 | (character >> 12) as u8,
            continuation(6),
            continuation(0),
        ]),
    }
}

/// Adds the character that a surrogate pair stands for.
#[inline]
pub(crate) fn push_pair(high: u16, low: u16, out: &mut Vec<u8>) {
    let character = 0x1_0000 + ((u32::from(high) & 0x3ff) << 10 | u32::from(low) & 0x3ff);
    let continuation = |shift: u32| 0x80 | (character >> shift & 0x3f) as u8;
    out.extend_from_slice(&[
        0xf0 | (character >> 18) as u8,
        continuation(12),
        continuation(6),
        continuation(0),
    ]);
}

/// Whether `bytes` are well-formed UTF-8.
pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
    simdutf::validate_utf8(bytes)
}

/// UTF-8 to Latin-1. `None` if it is ill-formed or has a character above U+00FF.
pub(crate) fn utf8_to_latin1(bytes: &[u8]) -> Option<Vec<u8>> {
    if !is_utf8(bytes) {
        return None;
    }
    let length = simdutf::latin1_length_from_utf8(bytes);
    let mut latin1 = Vec::with_capacity(length);
    // SAFETY: the source is a slice; the vector has the room that simdutf asks for, one byte for each character; what
    // it says it wrote is initialised. It is told that nothing before is certain, so it checks and writes 0 on failure.
    unsafe {
        let written =
            simdutf::convert_utf8_to_latin1(bytes.as_ptr(), bytes.len(), latin1.as_mut_ptr());
        latin1.set_len(written);
    }
    (latin1.len() == length).then_some(latin1)
}

/// UTF-8 to UTF-16. `None` if it is ill-formed.
pub(crate) fn utf8_to_utf16(bytes: &[u8]) -> Option<Vec<u16>> {
    if !is_utf8(bytes) {
        return None;
    }
    let length = simdutf::utf16_length_from_utf8(bytes);
    let mut units = Vec::with_capacity(length);
    // SAFETY: the source is a slice and was just found well-formed; the vector has the room for the exact result; what
    // simdutf says it wrote is initialised.
    unsafe {
        let written =
            simdutf::convert_valid_utf8_to_utf16(bytes.as_ptr(), bytes.len(), units.as_mut_ptr());
        units.set_len(written);
    }
    Some(units)
}
