//! The strings of a runtime as UTF-8.

use crate::avx512;
use crate::convert::{self, REPLACEMENT};
use crate::scratch::Scratch;

/// Units that are converted at a time where the room is tight. A piece that was just counted is
/// then still in the cache when it is converted.
const PIECE: usize = 32 * 1024;

/// Bytes of room for text that is passed on in parts, if the limit allows. Writes to a file in
/// memory gain a few percent with each doubling up to this size.
const PART: usize = 2 << 20;

/// Text as runtimes hold it.
#[derive(Clone, Copy, Debug)]
pub enum Text<'text> {
    /// A byte for each character, U+0000 to U+00FF.
    Latin1(&'text [u8]),
    /// UTF-16 in the machine's byte order, possibly with surrogates that lack their partner.
    Utf16(&'text [u16]),
}

impl Text<'_> {
    /// The number of units: bytes of Latin-1, 16-bit units of UTF-16. This is the string's length
    /// in JavaScript and Java.
    pub const fn len(&self) -> usize {
        match self {
            Self::Latin1(bytes) => bytes.len(),
            Self::Utf16(units) => units.len(),
        }
    }

    /// Returns true if there are no units.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Converts a whole text and passes it to `sink`. A text that fits under the limit of `scratch`
/// takes one call. A longer text takes several, none of which splits a character. An empty text
/// takes none.
///
/// # Errors
///
/// The first error of `sink`, at once.
///
/// ```
/// use smallfry_transcode::{Scratch, Text, encode};
///
/// let lone_surrogate = [0x61, 0xd800, 0x62];
/// let mut out = Vec::new();
/// encode(Text::Utf16(&lone_surrogate), &mut Scratch::new(), |utf8| {
///     out.extend_from_slice(utf8);
///     Ok::<(), ()>(())
/// })?;
/// assert_eq!(out, "a\u{fffd}b".as_bytes());
/// # Ok::<(), ()>(())
/// ```
#[inline]
pub fn encode<E>(
    text: Text<'_>,
    scratch: &mut Scratch,
    sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    match text {
        Text::Latin1(bytes) => encode_latin1(bytes, scratch, sink),
        Text::Utf16(units) => encode_units(&[], units, scratch, sink),
    }
}

/// Converts a text that arrives in chunks, as from a stream of strings. A surrogate pair may be
/// split between two of them.
///
/// smallfry's own front ends have whole strings, for which [`encode`] suffices.
///
/// ```
/// use smallfry_transcode::{Encoder, Scratch, Text};
///
/// let (mut encoder, mut scratch) = (Encoder::new(), Scratch::new());
/// let mut out = Vec::new();
/// let mut sink = |utf8: &[u8]| {
///     out.extend_from_slice(utf8);
///     Ok::<(), ()>(())
/// };
/// encoder.feed(Text::Utf16(&[0xd83d]), &mut scratch, &mut sink)?;
/// encoder.feed(Text::Utf16(&[0xde00]), &mut scratch, &mut sink)?;
/// encoder.finish(&mut sink)?;
/// assert_eq!(out, "😀".as_bytes());
/// # Ok::<(), ()>(())
/// ```
#[derive(Debug, Default)]
pub struct Encoder {
    /// The last unit, if its partner may come with the next chunk.
    high_surrogate: Option<u16>,
}

impl Encoder {
    /// Makes an encoder at the start of a text.
    pub const fn new() -> Self {
        Self {
            high_surrogate: None,
        }
    }

    /// Converts the next chunk and passes it to `sink`, like [`encode`]. A high surrogate at its
    /// end is held back.
    ///
    /// # Errors
    ///
    /// The first error of `sink`. A part of the chunk may have been passed on, and the encoder is
    /// at the start of a text.
    #[inline]
    pub fn feed<E>(
        &mut self,
        text: Text<'_>,
        scratch: &mut Scratch,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if text.is_empty() {
            return Ok(());
        }
        match text {
            Text::Latin1(bytes) => {
                self.finish(&mut sink)?;
                encode_latin1(bytes, scratch, sink)
            }
            Text::Utf16(units) => {
                let held = self.high_surrogate.take();
                let units = match units {
                    [start @ .., last] if convert::is_high_surrogate(*last) => {
                        self.high_surrogate = Some(*last);
                        start
                    }
                    whole => whole,
                };
                let done = match held {
                    None => encode_units(&[], units, scratch, sink),
                    Some(high) => encode_after(high, units, scratch, sink),
                };
                if done.is_err() {
                    self.high_surrogate = None;
                }
                done
            }
        }
    }

    /// Ends the text. A high surrogate that was held back has no partner, and becomes U+FFFD. The
    /// encoder is then at the start of a text.
    #[inline]
    pub fn finish<E>(&mut self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self.high_surrogate.take() {
            Some(_) => sink(REPLACEMENT),
            None => Ok(()),
        }
    }
}

/// Converts a text to a vector of exactly its length in UTF-8.
///
/// ```
/// use smallfry_transcode::{Text, encode_to_vec};
///
/// assert_eq!(encode_to_vec(Text::Latin1(b"\xe9")), "é".as_bytes());
/// ```
pub fn encode_to_vec(text: Text<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(utf8_len(text));
    match text {
        Text::Latin1(bytes) => push_all(bytes, &mut out),
        Text::Utf16(units) => push_all(units, &mut out),
    }
    out
}

/// Returns the exact length of a text in UTF-8, in bytes.
///
/// ```
/// use smallfry_transcode::{Text, utf8_len};
///
/// assert_eq!(utf8_len(Text::Utf16(&[0x20ac, 0xd800])), 6);
/// ```
pub fn utf8_len(text: Text<'_>) -> usize {
    match text {
        Text::Latin1(bytes) => convert::latin1_len(bytes),
        Text::Utf16(units) => convert::utf16_len(units),
    }
}

/// Returns true if this crate converts long UTF-16 much faster than simdutf on this processor. If
/// it does not, a runtime's own encoder may be as good.
///
/// ```
/// println!("{}", smallfry_transcode::outruns_simdutf());
/// ```
pub fn outruns_simdutf() -> bool {
    avx512::available()
}

#[inline]
fn encode_latin1<E>(
    bytes: &[u8],
    scratch: &mut Scratch,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if bytes.is_empty() {
        return Ok(());
    }
    if convert::is_ascii(bytes) {
        return sink(bytes);
    }
    encode_units(&[], bytes, scratch, sink)
}

/// Converts `units` after a high surrogate that was held back.
#[cold]
fn encode_after<E>(
    high: u16,
    units: &[u16],
    scratch: &mut Scratch,
    sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut head = Vec::with_capacity(convert::PAIR_LEN);
    let rest = match units {
        [low, rest @ ..] if convert::is_low_surrogate(*low) => {
            convert::push_pair(high, *low, &mut head);
            rest
        }
        _ => {
            head.extend_from_slice(REPLACEMENT);
            units
        }
    };
    encode_units(&head, rest, scratch, sink)
}

/// Passes `head` and then `units` as UTF-8 to `sink`.
#[inline]
fn encode_units<U: Unit, E>(
    head: &[u8],
    units: &[U],
    scratch: &mut Scratch,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let worst_case = units
        .len()
        .saturating_mul(U::MAX_BYTES)
        .saturating_add(head.len());
    if worst_case > scratch.limit() {
        return encode_long(head, units, scratch, sink);
    }
    // Room for the worst case is free, since untouched memory is never paged in. Counting would
    // cost a pass.
    let out = scratch.room(worst_case);
    out.extend_from_slice(head);
    U::push(units, out);
    if out.is_empty() { Ok(()) } else { sink(out) }
}

/// Works like [`encode_units`], for a text that may not fit.
#[cold]
fn encode_long<U: Unit, E>(
    head: &[u8],
    units: &[U],
    scratch: &mut Scratch,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    // Every unit takes at least one byte, so a text with more units than the limit need not be
    // counted.
    let exact = if units.len() <= scratch.limit() {
        head.len() + U::len_in_utf8(units)
    } else {
        usize::MAX
    };
    if exact <= scratch.limit() {
        let out = scratch.room(exact);
        out.extend_from_slice(head);
        push_all(units, out);
        return sink(out);
    }
    let out = scratch.room(PART);
    let room = PART.min(out.capacity());
    out.extend_from_slice(head);
    let mut rest = units;
    while !rest.is_empty() {
        let (piece, after) = U::split(rest, (room - out.len()) / U::MAX_BYTES);
        rest = after;
        if out.is_empty()
            && let Some(utf8) = U::as_utf8(piece)
        {
            sink(utf8)?;
        } else {
            U::push(piece, out);
            sink(out)?;
            out.clear();
        }
    }
    Ok(())
}

/// Appends all `units` to `out`, which has exactly the room.
fn push_all<U: Unit>(mut units: &[U], out: &mut Vec<u8>) {
    while !units.is_empty() {
        let (piece, rest) = U::split(units, PIECE);
        U::push(piece, out);
        units = rest;
    }
}

/// The differences between Latin-1 and UTF-16.
trait Unit: Sized {
    /// The maximum UTF-8 bytes of one unit.
    const MAX_BYTES: usize;

    /// The exact length in UTF-8.
    fn len_in_utf8(units: &[Self]) -> usize;

    /// Appends `units` to `out`, which has the room.
    fn push(units: &[Self], out: &mut Vec<u8>);

    /// Splits after `count` units, or after one less if that would split a pair.
    fn split(units: &[Self], count: usize) -> (&[Self], &[Self]);

    /// The units themselves, if they are already UTF-8.
    fn as_utf8(units: &[Self]) -> Option<&[u8]>;
}

impl Unit for u8 {
    const MAX_BYTES: usize = 2;

    fn len_in_utf8(units: &[Self]) -> usize {
        convert::latin1_len(units)
    }

    #[inline]
    fn push(units: &[Self], out: &mut Vec<u8>) {
        convert::push_latin1(units, out);
    }

    fn split(units: &[Self], count: usize) -> (&[Self], &[Self]) {
        units.split_at(count.min(units.len()))
    }

    fn as_utf8(units: &[Self]) -> Option<&[u8]> {
        convert::is_ascii(units).then_some(units)
    }
}

impl Unit for u16 {
    const MAX_BYTES: usize = 3;

    fn len_in_utf8(units: &[Self]) -> usize {
        convert::utf16_len(units)
    }

    #[inline]
    fn push(units: &[Self], out: &mut Vec<u8>) {
        convert::push_utf16(units, out);
    }

    fn split(units: &[Self], count: usize) -> (&[Self], &[Self]) {
        units.split_at(convert::split_point(units, count))
    }

    fn as_utf8(_: &[Self]) -> Option<&[u8]> {
        None
    }
}
