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

/// What is where in a text.
pub(crate) struct Index {
    blocks: Vec<Places>,
}

/// What is where in a block: a bit for each byte.
#[derive(Clone, Copy, Default)]
struct Places {
    /// Where a part begins.
    parts: u64,
    /// Of these, the brackets and braces that open.
    opening: u64,
    /// And those that close.
    closing: u64,
}

impl Index {
    /// Blocks of 64 bytes become masks, and all else is arithmetic on those: no branch depends on what the text says.
    pub(crate) fn of(text: &str) -> Result<Self, Invalid> {
        let bytes = text.as_bytes();
        let mut places = Vec::with_capacity(bytes.len() / BLOCK + 1);
        let mut scan = Scan::default();
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for (number, block) in blocks.iter().enumerate() {
            places.push(scan.checked(block, number * BLOCK, bytes)?);
        }
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        places.push(scan.checked(&last, blocks.len() * BLOCK, bytes)?);
        if scan.in_string != 0 {
            return Err(Invalid::at(bytes, scan.opened, "a string without an end"));
        }
        Ok(Self { blocks: places })
    }

    /// The first part from an offset on.
    fn part_from(&self, offset: usize) -> Option<usize> {
        let mut number = offset / BLOCK;
        let mut parts = self.blocks.get(number)?.parts & (u64::MAX << (offset % BLOCK));
        while parts == 0 {
            number += 1;
            parts = self.blocks.get(number)?.parts;
        }
        Some(number * BLOCK + parts.trailing_zeros() as usize)
    }

    /// The last part.
    fn last(&self) -> Option<usize> {
        let number = self.blocks.iter().rposition(|places| places.parts != 0)?;
        Some(number * BLOCK + 63 - self.blocks[number].parts.leading_zeros() as usize)
    }

    /// Behind the bracket, from an offset on, that closes `depth` of them; which closes which nobody asks.
    fn behind_closing(&self, offset: usize, mut depth: usize) -> Option<usize> {
        let mut mask = u64::MAX << (offset % BLOCK);
        for (number, places) in self.blocks.iter().enumerate().skip(offset / BLOCK) {
            let (opening, mut closing) = (places.opening & mask, places.closing & mask);
            mask = u64::MAX;
            // Mostly the end is further away, whatever the order of brackets in here.
            let mut seen = 0;
            while depth <= closing.count_ones() as usize && closing != 0 {
                let at = closing.trailing_zeros();
                let before = (opening & ((1 << at) - 1)).count_ones() as usize;
                depth = depth + (before - seen) - 1;
                seen = before;
                if depth == 0 {
                    return Some(number * BLOCK + at as usize + 1);
                }
                closing &= closing - 1;
            }
            depth += opening.count_ones() as usize - seen;
            depth -= closing.count_ones() as usize;
        }
        None
    }
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
    /// What is where in the next block, which begins at `base`.
    fn checked(&mut self, block: &[u8; BLOCK], base: usize, all: &[u8]) -> Result<Places, Invalid> {
        let (places, control) = self.block(block, base);
        if control == 0 {
            return Ok(places);
        }
        let offset = base + control.trailing_zeros() as usize;
        Err(Invalid::at(all, offset, "a control character in a string"))
    }

    /// The same, and where control characters are in strings.
    #[inline]
    fn block(&mut self, block: &[u8; BLOCK], base: usize) -> (Places, u64) {
        let Masks {
            backslash,
            quote,
            opening: opens,
            closing,
            separator,
            space,
            control,
        } = Masks::of(block);
        let sign = opens | closing | separator;
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
        let places = Places {
            parts: (sign | word & !behind_word) & !inside,
            opening: opens & !inside,
            closing: closing & !inside,
        };
        (places, control & in_string)
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
    /// Brackets and braces.
    opening: u64,
    closing: u64,
    /// Colons and commas; and two control characters that simdjson on x86-64 takes for those, which makes them errors wherever
    /// something is expected.
    separator: u64,
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
            let is_folded = |wanted: u8| folded.cmp_eq(all(wanted));
            let spaces = is(b' ') | is(b'\t') | is(b'\n') | is(b'\r');
            let mask = |lanes: u8x16| u64::from(lanes.move_mask().cast_unsigned()) << (16 * number);
            masks.backslash |= mask(is(b'\\'));
            masks.quote |= mask(is(b'"'));
            masks.opening |= mask(is_folded(b'{'));
            masks.closing |= mask(is_folded(b'}'));
            masks.separator |= mask(is_folded(b':') | is_folded(b','));
            masks.space |= mask(spaces);
            masks.control |= mask(bytes.min(all(0x1F)).cmp_eq(bytes));
        }
        masks
    }
}

/// Goes through the parts.
pub(crate) struct Walk<'text> {
    text: &'text str,
    index: Index,
    /// The offset of the next part; at the end, the length of the text.
    next: usize,
    /// How deep the next part is: 1 between the members of the outermost object, 2 at the value of one.
    depth: usize,
}

impl<'text> Walk<'text> {
    /// To the first member of the outermost object; `None` if it is empty.
    pub(crate) fn begin(text: &'text str) -> Result<Option<Self>, Invalid> {
        let index = Index::of(text)?;
        let mut walk = Self {
            next: index.part_from(0).unwrap_or(text.len()),
            text,
            index,
            depth: 1,
        };
        if walk.peek() != b'{' {
            return Err(walk.invalid("an object is expected"));
        }
        // Whatever is in between, and whichever object it ends.
        let last = walk.index.last().unwrap_or_default();
        if walk.bytes()[last] != b'}' {
            return Err(walk.invalid_at(text.len(), "a closing brace is expected"));
        }
        walk.take();
        Ok((walk.peek() != b'}').then_some(walk))
    }

    /// The key of a member, as it is written, up to its value.
    pub(crate) fn key(&mut self) -> Result<&'text [u8], Invalid> {
        if self.peek() != b'"' {
            return Err(self.invalid("a key in quotation marks is expected"));
        }
        let start = self.next + 1;
        self.take();
        if self.peek() != b':' {
            return Err(self.invalid("a colon is expected"));
        }
        self.take();
        self.depth = 2;
        Ok(&self.bytes()[start..])
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
        self.bytes().get(self.next).copied().unwrap_or(0)
    }

    /// Where the next part begins.
    pub(crate) fn offset(&self) -> usize {
        self.next
    }

    /// Takes a string: what is behind its first quotation mark.
    pub(crate) fn take_string(&mut self) -> &'text str {
        let start = self.next + 1;
        self.take();
        self.depth = 1;
        &self.text[start..]
    }

    /// Takes an object or an array: all up to the next part behind it.
    pub(crate) fn take_container(&mut self) -> Result<&'text str, Invalid> {
        let start = self.next;
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
        // Both are signs, and so the beginnings of characters.
        Ok(&self.text[start..self.next])
    }

    pub(crate) fn invalid(&self, reason: &'static str) -> Invalid {
        self.invalid_at(self.next, reason)
    }

    pub(crate) fn invalid_at(&self, offset: usize, reason: &'static str) -> Invalid {
        Invalid::at(self.bytes(), offset, reason)
    }

    fn bytes(&self) -> &'text [u8] {
        self.text.as_bytes()
    }

    fn take(&mut self) {
        self.go_to(self.next + 1);
    }

    /// To the first part from there on.
    fn go_to(&mut self, offset: usize) {
        self.next = self.index.part_from(offset).unwrap_or(self.text.len());
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
        match self.index.behind_closing(self.next, self.depth - 1) {
            Some(behind) => {
                self.depth = 1;
                self.go_to(behind);
                Ok(())
            }
            None => Err(self.invalid_at(self.text.len(), "a closing brace or bracket is missing")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same byte by byte.
    fn byte_by_byte(bytes: &[u8]) -> Result<Vec<usize>, Invalid> {
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
                        parts.push(offset);
                    }
                    string = Some(offset);
                }
                // On x86-64 two control characters are taken for signs, which makes them errors wherever something is expected.
                b'{' | b'}' | b'[' | b']' | b':' | b',' | 0x0C | 0x1A => {
                    parts.push(offset);
                    is_after_word = false;
                }
                b' ' | b'\t' | b'\n' | b'\r' => is_after_word = false,
                _ => {
                    if !is_after_word {
                        parts.push(offset);
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

    fn in_blocks(text: &str) -> Result<Vec<usize>, Invalid> {
        let index = Index::of(text)?;
        let next = |offset: &usize| index.part_from(offset + 1);
        Ok(std::iter::successors(index.part_from(0), next).collect())
    }

    /// The same as [`Index::behind_closing`].
    fn counted(text: &str, parts: &[usize], offset: usize, mut depth: usize) -> Option<usize> {
        for &part in parts.iter().filter(|part| **part >= offset) {
            match text.as_bytes()[part] {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(part + 1);
            }
        }
        None
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            8 => prop::sample::select(&b"{}[]:,\" \\a1\n\t\x0c\x1a\x01"[..]).prop_map(|byte| vec![byte]),
            4 => (0..70_usize).prop_map(|length| vec![b'a'; length]),
            2 => (0..70_usize).prop_map(|length| vec![b'\\'; length]),
            2 => (0..20_usize).prop_map(|length| [&b"\""[..], &vec![b'x'; length], b"\""].concat()),
            1 => Just("ü€😀".as_bytes().to_vec()),
        ];
        prop::collection::vec(piece, 0..60)
            .prop_map(|pieces| String::from_utf8(pieces.concat()).unwrap())
    }

    proptest! {
        #[test]
        fn blocks_give_what_single_bytes_do(text in pieces(), from in 0..200_usize, depth in 1..5_usize) {
            let parts = byte_by_byte(text.as_bytes());
            prop_assert_eq!(&in_blocks(&text), &parts);
            if let Ok(parts) = parts {
                let index = Index::of(&text).unwrap();
                prop_assert_eq!(index.last(), parts.last().copied());
                prop_assert_eq!(index.behind_closing(from, depth), counted(&text, &parts, from, depth));
            }
        }
    }
}
