//! Where the parts of a JSON text begin: brackets, braces, colons, commas, and the first character of each string, number and word.
//!
//! As Node's parser (simdjson, its stage 1 and On-Demand) has it, with its leniency: what is between two such places is not looked
//! at until somebody wants it, and skipping a value only counts brackets.
//!
//! Langdale, Lemire: *Parsing Gigabytes of JSON per Second*, VLDB Journal 28(6), 2019, <https://arxiv.org/abs/1902.08318>;
//! Keiser, Lemire: *On-Demand JSON: A Better Way to Parse Documents?*, 2023, <https://arxiv.org/abs/2312.17149>.

use wide::u8x16;

use crate::Invalid;

/// Bytes looked at together: one for each bit of a mask.
const BLOCK: usize = 64;
/// A file has this many bytes at most, so that an offset takes four.
const MOST: usize = u32::MAX as usize;

/// The offset of each part.
///
/// Blocks of 64 bytes become masks with a bit for each byte, and all else is arithmetic on those: no branch depends on what the
/// text says but the one for each part.
pub(crate) fn index(bytes: &[u8]) -> Result<Vec<u32>, Invalid> {
    if bytes.len() > MOST {
        return Err(Invalid::at(bytes, MOST, "longer than 4 GiB"));
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(Invalid::at(bytes, error.valid_up_to(), "not UTF-8"));
    }
    // Written by people, a part comes every six to eight bytes.
    let mut parts = Vec::with_capacity(bytes.len() / 5 + BLOCK);
    let mut scan = Scan::default();
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let base = number * BLOCK;
        let (mut starts, control) = scan.block(block, base);
        if control != 0 {
            let offset = base + control.trailing_zeros() as usize;
            return Err(Invalid::at(
                bytes,
                offset,
                "a control character in a string",
            ));
        }
        while starts != 0 {
            parts.push((base as u32) + starts.trailing_zeros());
            starts &= starts - 1;
        }
    }
    if scan.in_string != 0 {
        return Err(Invalid::at(bytes, scan.opened, "a string without an end"));
    }
    Ok(parts)
}

/// What one block leaves for the next.
#[derive(Default)]
struct Scan {
    /// 1 if a backslash at the end escapes what comes, also outside strings.
    escapes: u64,
    /// All ones if a string is open.
    in_string: u64,
    /// 1 if the block ended in a number, a word or what else stands outside strings.
    in_word: u64,
    /// Where the last string began.
    opened: usize,
}

impl Scan {
    /// Where parts begin in a block, and where control characters are in strings.
    fn block(&mut self, block: &[u8; BLOCK], base: usize) -> (u64, u64) {
        let Masks {
            backslash,
            quote,
            sign,
            space,
            control,
        } = Masks::of(block);
        let quote = quote & !self.escaped(backslash);
        // From each opening quotation mark to before the closing one.
        let in_string = prefix_xor(quote) ^ self.in_string;
        self.in_string = (in_string.cast_signed() >> 63).cast_unsigned();
        let opening = quote & in_string;
        if opening != 0 {
            self.opened = base + 63 - opening.leading_zeros() as usize;
        }
        let word = !(sign | space);
        let unquoted = word & !quote;
        let behind_word = unquoted << 1 | self.in_word;
        self.in_word = unquoted >> 63;
        let inside = in_string ^ quote;
        ((sign | word & !behind_word) & !inside, control & in_string)
    }

    /// What a backslash escapes. Of several in a row every other one escapes the next: found for all rows at once by a
    /// subtraction whose borrow runs along each.
    fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        if backslash == 0 {
            return std::mem::take(&mut self.escapes);
        }
        let potential = backslash & !self.escapes;
        let codes = (potential << 1 | ODD).wrapping_sub(potential) ^ ODD;
        let escaped = codes ^ (backslash | self.escapes);
        self.escapes = (codes & backslash) >> 63;
        escaped
    }
}

/// Each bit is the exclusive or of itself and all below it.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Which bytes of a block are what.
#[derive(Default)]
struct Masks {
    backslash: u64,
    quote: u64,
    /// Brackets, braces, colons, commas; and two control characters that simdjson on x86-64 takes for signs, which makes them errors
    /// wherever something is expected.
    sign: u64,
    space: u64,
    control: u64,
}

impl Masks {
    fn of(block: &[u8; BLOCK]) -> Self {
        let all = u8x16::splat;
        let mut masks = Self::default();
        for (number, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::from(*bytes);
            // [ and ] become { and }, and those control characters a comma and a colon.
            let folded = bytes | all(0x20);
            let is = |wanted: u8| bytes.cmp_eq(all(wanted));
            let signs = folded.cmp_eq(all(b'{'))
                | folded.cmp_eq(all(b'}'))
                | folded.cmp_eq(all(b':'))
                | folded.cmp_eq(all(b','));
            // Not what folding makes of others: a colon and a comma have that bit themselves.
            let spaces = is(b' ') | is(b'\t') | is(b'\n') | is(b'\r');
            let mask = |lanes: u8x16| u64::from(lanes.move_mask().cast_unsigned()) << (16 * number);
            masks.backslash |= mask(is(b'\\'));
            masks.quote |= mask(is(b'"'));
            masks.sign |= mask(signs);
            masks.space |= mask(spaces);
            masks.control |= mask(bytes.min(all(0x1F)).cmp_eq(bytes));
        }
        masks
    }
}

/// Goes through the parts.
pub(crate) struct Walk<'text> {
    pub(crate) bytes: &'text [u8],
    parts: Vec<u32>,
    next: usize,
    /// How deep the next part is: 1 between the members of the outermost object, 2 at the value of one.
    depth: usize,
}

impl<'text> Walk<'text> {
    /// To the first member of the outermost object; `None` if it is empty.
    pub(crate) fn begin(bytes: &'text [u8]) -> Result<Option<Self>, Invalid> {
        let mut walk = Self {
            bytes,
            parts: index(bytes)?,
            next: 0,
            depth: 1,
        };
        if walk.peek() != b'{' {
            return Err(walk.invalid("an object is expected"));
        }
        // Whatever is in between, and whichever object it ends.
        let last = walk.parts.last().map_or(0, |last| *last as usize);
        if bytes[last] != b'}' {
            return Err(Invalid::at(
                bytes,
                bytes.len(),
                "a closing brace is expected",
            ));
        }
        walk.take();
        Ok((walk.peek() != b'}').then_some(walk))
    }

    /// The key of a member, as it is written, up to its value.
    pub(crate) fn key(&mut self) -> Result<&'text [u8], Invalid> {
        if self.peek() != b'"' {
            return Err(self.invalid("a key in quotation marks is expected"));
        }
        let start = self.offset() + 1;
        self.take();
        if self.peek() != b':' {
            return Err(self.invalid("a colon is expected"));
        }
        self.take();
        self.depth = 2;
        Ok(&self.bytes[start..])
    }

    /// From the value of a member, whatever of it was taken, to the next member. Whether there is one.
    pub(crate) fn next_member(&mut self) -> Result<bool, Invalid> {
        self.skip()?;
        match self.peek() {
            b',' => {
                self.take();
                Ok(true)
            }
            b'}' => Ok(false),
            _ => Err(self.invalid("a comma or a closing brace is expected")),
        }
    }

    /// The first byte of the next part; 0 at the end.
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.offset()).copied().unwrap_or(0)
    }

    pub(crate) fn offset(&self) -> usize {
        let next = self.parts.get(self.next);
        next.map_or(self.bytes.len(), |next| *next as usize)
    }

    /// Takes a string: what is behind its first quotation mark.
    pub(crate) fn take_string(&mut self) -> &'text [u8] {
        let start = self.offset() + 1;
        self.take();
        self.depth = 1;
        &self.bytes[start..]
    }

    /// Takes an object or an array: all up to the next part behind it.
    pub(crate) fn take_container(&mut self) -> Result<&'text [u8], Invalid> {
        let start = self.offset();
        let is_array = self.peek() == b'[';
        self.take();
        let end = if is_array { b']' } else { b'}' };
        if self.peek() == end {
            self.take();
            self.depth = 1;
        } else if is_array {
            // At the first element, which is in it.
            self.depth = 3;
        } else if self.peek() == b'"' {
            self.key()?;
            self.depth = 3;
        }
        self.skip()?;
        Ok(&self.bytes[start..self.offset()])
    }

    pub(crate) fn invalid(&self, reason: &'static str) -> Invalid {
        Invalid::at(self.bytes, self.offset(), reason)
    }

    fn take(&mut self) {
        self.next += 1;
    }

    /// To behind the value of the member. Only counts: which bracket closes which nobody asks.
    fn skip(&mut self) -> Result<(), Invalid> {
        if self.depth <= 1 {
            return Ok(());
        }
        let first = self.peek();
        self.take();
        match first {
            // The value itself has been counted.
            b'[' | b'{' | b':' | b',' => {}
            // A string that a colon follows is taken for a key.
            b'"' if self.peek() == b':' => self.take(),
            _ => {
                self.depth -= 1;
                if self.depth <= 1 {
                    return Ok(());
                }
            }
        }
        while self.next < self.parts.len() {
            let part = self.peek();
            self.take();
            match part {
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => {
                    self.depth -= 1;
                    if self.depth <= 1 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(self.invalid("a closing brace or bracket is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same byte by byte.
    fn byte_by_byte(bytes: &[u8]) -> Result<Vec<u32>, Invalid> {
        if let Err(error) = std::str::from_utf8(bytes) {
            return Err(Invalid::at(bytes, error.valid_up_to(), "not UTF-8"));
        }
        let mut parts = Vec::with_capacity(bytes.len() / 6);
        // The quotation mark that began the string that is open.
        let mut string = None;
        let mut is_escaped = false;
        // Of a number, a word or what else stands outside strings.
        let mut is_after_word = false;
        for (offset, &byte) in bytes.iter().enumerate() {
            // Outside strings, too.
            let was_escaped = is_escaped;
            is_escaped = byte == b'\\' && !was_escaped;
            let is_quote = byte == b'"' && !was_escaped;
            match byte {
                _ if string.is_some() => {
                    if byte < b' ' {
                        return Err(Invalid::at(
                            bytes,
                            offset,
                            "a control character in a string",
                        ));
                    }
                    if is_quote {
                        string = None;
                        is_after_word = false;
                    }
                }
                _ if is_quote => {
                    if !is_after_word {
                        parts.push(offset as u32);
                    }
                    string = Some(offset);
                }
                // On x86-64 two control characters are taken for signs, which makes them errors wherever something is expected.
                b'{' | b'}' | b'[' | b']' | b':' | b',' | 0x0C | 0x1A => {
                    parts.push(offset as u32);
                    is_after_word = false;
                }
                b' ' | b'\t' | b'\n' | b'\r' => is_after_word = false,
                _ => {
                    if !is_after_word {
                        parts.push(offset as u32);
                    }
                    is_after_word = true;
                }
            }
        }
        if let Some(start) = string {
            return Err(Invalid::at(bytes, start, "a string without an end"));
        }
        Ok(parts)
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => prop::sample::select(&b"{}[]:,\" \\a1\n\t\x0c\x1a\x01\xc3"[..]).prop_map(|byte| vec![byte]),
            4 => (0..70_usize).prop_map(|length| vec![b'a'; length]),
            2 => (0..70_usize).prop_map(|length| vec![b'\\'; length]),
            2 => (0..20_usize).prop_map(|length| [&b"\""[..], &vec![b'x'; length], b"\""].concat()),
            1 => Just("ü€😀".as_bytes().to_vec()),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn blocks_give_what_single_bytes_do(text in pieces()) {
            prop_assert_eq!(index(&text), byte_by_byte(&text));
        }
    }
}
