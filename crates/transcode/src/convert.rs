//! Conversions of one slice to UTF-8, at the end of a buffer that has room for it. All calls of
//! simdutf are here.

use crate::{avx2, avx512};

/// The maximum length in bytes for which a plain loop is faster than a call of the library.
const SHORT: usize = 32;

/// Bytes that are checked at a time where one byte may decide.
const ASCII_PIECE: usize = 16 * 1024;

/// Units that the library converts after the faster conversion met a surrogate.
const BETWEEN: usize = 512;

/// Units that the plain conversion converts after a lone surrogate.
const AFTER_LONE_SURROGATE: usize = 32;

/// UTF-8 bytes of a character that takes a surrogate pair.
pub(crate) const PAIR_LEN: usize = 4;

/// Replaces a surrogate without its partner.
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

/// Returns true if all bytes are ASCII.
#[inline]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() <= SHORT {
        bytes.is_ascii()
    } else {
        // In pieces, because the library looks at all bytes that it is given even after it has seen
        // the answer.
        bytes.chunks(ASCII_PIECE).all(simdutf::validate_ascii)
    }
}

/// The exact UTF-8 length of Latin-1.
pub(crate) fn latin1_len(bytes: &[u8]) -> usize {
    simdutf::utf8_length_from_latin1(bytes)
}

/// The exact UTF-8 length of UTF-16, with surrogates without a partner as U+FFFD.
pub(crate) fn utf16_len(units: &[u16]) -> usize {
    if simdutf::validate_utf16(units) {
        return simdutf::utf8_length_from_utf16(units);
    }
    char::decode_utf16(units.iter().copied())
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8())
        .sum()
}

/// Appends Latin-1 to `out` as UTF-8.
///
/// # Panics
///
/// If `out` has no room for [`latin1_len`] bytes.
#[inline]
pub(crate) fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) {
    let room = out.capacity() - out.len();
    assert!(
        room >= bytes.len() * 2 || room >= latin1_len(bytes),
        "no room for the text"
    );
    let bytes = if avx512::available() {
        bytes
    } else {
        &bytes[avx2::push_latin1(bytes, out)..]
    };
    if bytes.is_empty() {
        return;
    }
    // SAFETY: the source is a slice. The room after the vector's length was just checked to hold
    // the exact result, as simdutf requires. The bytes that simdutf reports are initialised.
    let written = unsafe {
        let end = out.as_mut_ptr().add(out.len());
        let written = simdutf::convert_latin1_to_utf8(bytes.as_ptr(), bytes.len(), end);
        out.set_len(out.len() + written);
        written
    };
    if written == 0 {
        push_latin1_plainly(bytes, out);
    }
}

/// Converts without simdutf. simdutf refuses to work if `SIMDUTF_FORCE_IMPLEMENTATION` in the
/// environment names an implementation that this processor lacks, and text must not be lost to
/// that.
#[cold]
fn push_latin1_plainly(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        push_char(u32::from(byte), out);
    }
}

/// Appends UTF-16 to `out` as UTF-8, with surrogates without a partner as U+FFFD.
///
/// # Panics
///
/// If `out` has no room for [`utf16_len`] bytes.
#[inline]
pub(crate) fn push_utf16(units: &[u16], out: &mut Vec<u8>) {
    let room = out.capacity() - out.len();
    assert!(
        room >= units.len() * 3 || room >= utf16_len(units),
        "no room for the text"
    );
    let mut rest = units;
    loop {
        rest = &rest[push_without_surrogates(rest, out)..];
        // The library converts what stopped the faster conversion: a surrogate or an end. After a
        // surrogate others are likely.
        let count = split_point(rest, BETWEEN);
        let (piece, after) = rest.split_at(count);
        if !push_if_well_formed(piece, out) {
            push_ill_formed(piece, out);
        }
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

/// Converts units up to a surrogate, faster than the library, and returns their number.
#[inline]
fn push_without_surrogates(units: &[u16], out: &mut Vec<u8>) -> usize {
    if avx512::available() {
        avx512::push_utf16(units, out)
    } else {
        avx2::push_utf16(units, out)
    }
}

/// Returns `count`, or one less if that would split a pair.
pub(crate) fn split_point(units: &[u16], count: usize) -> usize {
    if count >= units.len() {
        units.len()
    } else if count > 0 && is_high_surrogate(units[count - 1]) && is_low_surrogate(units[count]) {
        count - 1
    } else {
        count
    }
}

/// Appends UTF-16 that fits, with surrogates without a partner as U+FFFD.
#[cold]
fn push_ill_formed(mut units: &[u16], out: &mut Vec<u8>) {
    while !units.is_empty() {
        // SAFETY: the source is a slice. The room after the vector's length holds the exact result
        // of the rest of the text, as simdutf requires: the caller has made sure of it, and each
        // round takes as much room as its part of the text needs. The count is used only after
        // success.
        let result = unsafe {
            let end = out.as_mut_ptr().add(out.len());
            simdutf::convert_utf16_to_utf8_with_errors(units.as_ptr(), units.len(), end)
        };
        if result.error == simdutf::ErrorCode::Success {
            // SAFETY: simdutf has written that many bytes there.
            unsafe { out.set_len(out.len() + result.count) };
            return;
        }
        // The library reports where in the source it stopped, not how much it wrote. The units
        // before are well-formed.
        let (good, rest) = units.split_at(result.count);
        push_well_formed(good, out);
        // Converts plainly for a while: after one lone surrogate there are often more, and each
        // would cost a call.
        let taken = push_utf16_plainly(rest, AFTER_LONE_SURROGATE.min(rest.len()), out);
        units = &rest[taken..];
    }
}

/// Appends UTF-16 that fits, or nothing if it is ill-formed. The library's call that does not
/// report the position is faster.
#[inline]
fn push_if_well_formed(units: &[u16], out: &mut Vec<u8>) -> bool {
    // SAFETY: the source is a slice. The caller has made sure of the room. The bytes that simdutf
    // reports are initialised.
    let written = unsafe {
        let end = out.as_mut_ptr().add(out.len());
        let written = simdutf::convert_utf16_to_utf8(units.as_ptr(), units.len(), end);
        out.set_len(out.len() + written);
        written
    };
    written != 0 || units.is_empty()
}

/// Appends UTF-16 that is well-formed and fits.
fn push_well_formed(units: &[u16], out: &mut Vec<u8>) {
    debug_assert!(simdutf::validate_utf16(units));
    // SAFETY: the source is a slice and was just found well-formed. The caller has made sure of the
    // room. The bytes that simdutf reports are initialised.
    unsafe {
        let end = out.as_mut_ptr().add(out.len());
        let written = simdutf::convert_valid_utf16_to_utf8(units.as_ptr(), units.len(), end);
        out.set_len(out.len() + written);
    }
}

/// Appends the first `count` units, and the second half of a pair that begins in them. Returns the
/// number of converted units.
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

/// Appends a character below U+10000 that is not a surrogate.
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

/// Appends the character of a surrogate pair.
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

/// Returns true if every character is below U+0100. `bytes` must be well-formed UTF-8: then no
/// character begins with more than 0xc3.
pub(crate) fn is_latin1_range(bytes: &[u8]) -> bool {
    // In pieces, because a loop that may stop at any byte is not vectorised.
    bytes
        .chunks(256)
        .all(|piece| piece.iter().fold(0, |max, byte| max.max(*byte)) <= 0xc3)
}

/// Makes `out` an empty buffer with room for `count`.
fn make_room<U>(out: &mut Vec<U>, count: usize) {
    out.clear();
    if out.capacity() < count {
        // Freed first, so that two buffers never exist at once and nothing is copied.
        *out = Vec::new();
        out.reserve_exact(count);
    }
}

/// Converts UTF-8 without characters above U+00FF to Latin-1 in `out`. Returns `false` if it is
/// ill-formed.
///
/// Up to a length of `roomy` the buffer has room for the worst case, which saves two passes. Beyond
/// that its size is exact.
pub(crate) fn utf8_to_latin1(bytes: &[u8], roomy: usize, out: &mut Vec<u8>) -> bool {
    if bytes.len() <= roomy.max(out.capacity()) {
        make_room(out, bytes.len());
    } else if simdutf::validate_utf8(bytes) {
        make_room(out, simdutf::latin1_length_from_utf8(bytes));
    } else {
        return false;
    }
    // SAFETY: the source is a slice. The buffer has room for one byte per source byte, and no byte
    // makes more; or for the exact result of a text that was just found well-formed. The bytes that
    // simdutf reports are initialised.
    unsafe {
        let written =
            simdutf::convert_utf8_to_latin1(bytes.as_ptr(), bytes.len(), out.as_mut_ptr());
        out.set_len(written);
    }
    bytes.is_empty() || !out.is_empty()
}

/// Converts UTF-8 to UTF-16 in `out`. Returns `false` if it is ill-formed.
///
/// Up to a length of `roomy` the buffer has room for the worst case, which saves two passes. Beyond
/// that its size is exact.
pub(crate) fn utf8_to_utf16(bytes: &[u8], roomy: usize, out: &mut Vec<u16>) -> bool {
    if bytes.len() <= roomy.max(out.capacity()) {
        make_room(out, bytes.len());
        // SAFETY: the source is a slice. The buffer has room for one unit per source byte, and no
        // byte makes more. The units that simdutf reports are initialised.
        unsafe {
            let written =
                simdutf::convert_utf8_to_utf16(bytes.as_ptr(), bytes.len(), out.as_mut_ptr());
            out.set_len(written);
        }
        return bytes.is_empty() || !out.is_empty();
    }
    if !simdutf::validate_utf8(bytes) {
        return false;
    }
    make_room(out, simdutf::utf16_length_from_utf8(bytes));
    // SAFETY: the source is a slice and was just found well-formed. The buffer has room for the
    // exact result. The units that simdutf reports are initialised.
    unsafe {
        let written =
            simdutf::convert_valid_utf8_to_utf16(bytes.as_ptr(), bytes.len(), out.as_mut_ptr());
        out.set_len(written);
    }
    true
}
