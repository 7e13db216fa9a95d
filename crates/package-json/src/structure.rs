//! Finds where the parts of a JSON text begin: brackets, braces, colons, commas, and the first
//! character of each string, number and word.
//!
//! It works like Node's parser (simdjson, its stage 1 and On-Demand), with the same leniency: text
//! between two parts is not checked until it is needed, and skipping a value only counts brackets.
//! In contrast to simdjson, the masks of stage 1 are kept as they are, and not turned into a list
//! of offsets. Most parts are skipped, and 64 bytes without a bracket take one step.
//!
//! Langdale, Lemire: *Parsing Gigabytes of JSON per Second*, VLDB Journal 28(6), 2019,
//! <https://arxiv.org/abs/1902.08318>; Keiser, Lemire: *On-Demand JSON: A Better Way to Parse
//! Documents?*, 2023, <https://arxiv.org/abs/2312.17149>.

#![allow(unsafe_code, reason = "it has instructions for vectors")]

mod classify;
#[cfg(test)]
mod reference;

use self::classify::{Classes, LENGTH, classify};
use crate::invalid::Invalid;

/// The parts that begin in a block of [`LENGTH`] bytes. The lowest bit is the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    parts: u64,
    /// The parts that are `{` or `[`.
    opens: u64,
    /// The parts that are `}` or `]`.
    closes: u64,
    /// Quotation marks at either end of a string.
    quotes: u64,
}

/// The state that a block passes on to the next, and the errors seen so far.
#[derive(Default)]
struct Scan {
    /// True if the next character is escaped: bit 0.
    is_escaped: u64,
    /// True if the last character belonged to a number, a word or anything else outside strings:
    /// bit 0.
    is_after_word: u64,
    /// All bits or none.
    is_in_string: u64,
    /// Not 0 if there are any.
    control_in_string: u64,
    is_beyond_ascii: bool,
}

impl Scan {
    /// Returns the characters after an unescaped backslash, even outside strings.
    fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        if backslash == 0 {
            return core::mem::take(&mut self.is_escaped);
        }
        // In a run of backslashes every other one escapes. The borrow of the subtraction passes
        // through a run and ends with it, and leaves every other bit there, from the first one of
        // the run. `ODD` makes it the same for runs that begin at an odd place.
        let may_escape = backslash & !self.is_escaped;
        let codes = (may_escape << 1 | ODD).wrapping_sub(may_escape) ^ ODD;
        let escaped = codes ^ (backslash | self.is_escaped);
        self.is_escaped = (codes & backslash) >> 63;
        escaped
    }

    #[inline]
    fn block(&mut self, classes: &Classes) -> Block {
        let quotes = classes.quote & !self.escaped(classes.backslash);
        // From each first quotation mark to before the last one.
        let in_string = prefix_xor(quotes) ^ self.is_in_string;
        self.is_in_string = (in_string.cast_signed() >> 63).cast_unsigned();
        let words = classes.scalar & !quotes;
        let after_word = words << 1 | self.is_after_word;
        self.is_after_word = words >> 63;
        // All but its first quotation mark.
        let inner = in_string ^ quotes;
        self.is_beyond_ascii |= !classes.is_ascii;
        self.control_in_string |= classes.control & in_string;
        Block {
            parts: (classes.sign | classes.scalar & !after_word) & !inner,
            opens: classes.open & !inner,
            closes: classes.close & !inner,
            quotes,
        }
    }

    /// Indexes all bytes. Bytes that are missing in the last block count as space.
    fn index(&mut self, bytes: &[u8], classify: impl Fn(&[u8; LENGTH]) -> Classes) -> Vec<Block> {
        let (whole, rest) = bytes.as_chunks::<LENGTH>();
        let mut blocks = Vec::with_capacity(whole.len() + 1);
        blocks.extend(whole.iter().map(|block| self.block(&classify(block))));
        if !rest.is_empty() {
            let mut block = [b' '; LENGTH];
            block[..rest.len()].copy_from_slice(rest);
            blocks.push(self.block(&classify(&block)));
        }
        blocks
    }

    /// Checks what can only be checked at the end.
    fn finish(&self, bytes: &[u8], blocks: Vec<Block>) -> Result<Vec<Block>, Invalid> {
        if self.is_beyond_ascii
            && let Err(error) = std::str::from_utf8(bytes)
        {
            return Err(Invalid::at(bytes, error.valid_up_to(), "not UTF-8"));
        }
        if (self.control_in_string | self.is_in_string) != 0 {
            return Err(broken_string(bytes));
        }
        Ok(blocks)
    }

    /// Code that is inlined here may use AVX2 too.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn index_avx2(&mut self, bytes: &[u8]) -> Vec<Block> {
        self.index(bytes, |block| classify::classify_avx2(block))
    }
}

/// For each bit, the XOR of it and all bits below it.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

fn count(of: u64) -> usize {
    of.count_ones() as usize
}

/// Indexes a whole text. The text must be UTF-8, and its strings must end.
fn index(bytes: &[u8]) -> Result<Vec<Block>, Invalid> {
    let mut scan = Scan::default();
    #[cfg(target_arch = "x86_64")]
    let blocks = if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 is there, and nothing else is required.
        unsafe { scan.index_avx2(bytes) }
    } else {
        scan.index(bytes, classify)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let blocks = scan.index(bytes, classify);
    scan.finish(bytes, blocks)
}

/// Finds the first broken string by a second pass over the bytes, to report its place.
#[cold]
fn broken_string(bytes: &[u8]) -> Invalid {
    let mut string = None;
    let mut is_escaped = false;
    for (offset, &byte) in bytes.iter().enumerate() {
        let is_quote = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        match string {
            Some(_) if byte < b' ' => {
                return Invalid::at(bytes, offset, "a control character in a string");
            }
            Some(_) if is_quote => string = None,
            None if is_quote => string = Some(offset),
            _ => {}
        }
    }
    let start = string.unwrap_or(bytes.len());
    Invalid::at(bytes, start, "a string without an end")
}

/// A walk over the parts.
pub(crate) struct Walk<'text> {
    bytes: &'text [u8],
    blocks: Vec<Block>,
    /// The block of the next part, or the number of blocks at the end.
    block: usize,
    /// The next part of that block and the parts behind it, or 0 at the end.
    rest: u64,
    /// The depth of the next part: 1 between the members of the outermost object, 2 at the value of
    /// one.
    depth: usize,
}

impl<'text> Walk<'text> {
    /// Goes to the first member of the outermost object. `None`: it is empty.
    pub(crate) fn begin(bytes: &'text [u8]) -> Result<Option<Self>, Invalid> {
        let mut walk = Self {
            bytes,
            blocks: index(bytes)?,
            block: 0,
            rest: 0,
            depth: 1,
        };
        walk.go_to_block(0);
        if walk.peek() != b'{' {
            return Err(walk.invalid("an object is expected"));
        }
        // Whatever is in between, and whichever object it ends.
        if walk.last() != b'}' {
            return Err(Invalid::at(
                bytes,
                bytes.len(),
                "a closing brace is expected",
            ));
        }
        walk.take();
        Ok((walk.peek() != b'}').then_some(walk))
    }

    /// Takes the key of a member as it is written, and goes to its value.
    #[inline]
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

    /// Goes from the value of a member, of which any part may have been taken, to the next member.
    /// Returns whether there is one.
    #[inline]
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

    /// The first byte of the next part, or 0 at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.offset()).copied().unwrap_or(0)
    }

    /// The first byte of the last part, or 0 if there is none.
    fn last(&self) -> u8 {
        let Some(number) = self.blocks.iter().rposition(|block| block.parts != 0) else {
            return 0;
        };
        self.bytes[number * LENGTH + self.blocks[number].parts.ilog2() as usize]
    }

    /// Takes a string, and returns the text between its quotation marks.
    pub(crate) fn take_string(&mut self) -> &'text [u8] {
        let start = self.offset() + 1;
        // The quotation marks of the block behind its first one.
        let mut number = self.block;
        let mut quotes = self.blocks[number].quotes & !(self.rest ^ (self.rest - 1));
        while quotes == 0 {
            number += 1;
            quotes = self.blocks[number].quotes;
        }
        self.take();
        self.depth = 1;
        &self.bytes[start..number * LENGTH + quotes.trailing_zeros() as usize]
    }

    /// Takes an object or an array, and returns everything up to the next part behind it.
    pub(crate) fn take_container(&mut self) -> Result<&'text [u8], Invalid> {
        let start = self.offset();
        let is_array = self.peek() == b'[';
        self.take();
        let end = if is_array { b']' } else { b'}' };
        if self.peek() == end {
            self.take();
            self.depth = 1;
        } else if is_array {
            // The first element is inside the container.
            self.depth = 3;
        } else if self.peek() == b'"' {
            self.key()?;
            self.depth = 3;
        }
        self.skip()?;
        Ok(&self.bytes[start..self.offset()])
    }

    #[cold]
    pub(crate) fn invalid(&self, reason: &'static str) -> Invalid {
        self.invalid_at(self.offset(), reason)
    }

    #[cold]
    pub(crate) fn invalid_at(&self, offset: usize, reason: &'static str) -> Invalid {
        Invalid::at(self.bytes, offset, reason)
    }

    #[inline]
    pub(crate) fn offset(&self) -> usize {
        if self.rest == 0 {
            return self.bytes.len();
        }
        self.block * LENGTH + self.rest.trailing_zeros() as usize
    }

    #[inline]
    fn take(&mut self) {
        self.keep(self.rest & self.rest.wrapping_sub(1));
    }

    /// Goes to the first of these parts of the block, or to the next block that has any.
    #[inline]
    fn keep(&mut self, rest: u64) {
        if rest == 0 {
            return self.go_to_block(self.block + 1);
        }
        self.rest = rest;
    }

    /// Goes to the first part from this block on.
    fn go_to_block(&mut self, from: usize) {
        let blocks = self.blocks.get(from..).unwrap_or_default();
        let Some(ahead) = blocks.iter().position(|block| block.parts != 0) else {
            self.block = self.blocks.len();
            self.rest = 0;
            return;
        };
        self.block = from + ahead;
        self.keep(blocks[ahead].parts);
    }

    /// Skips the value of a member. It only counts brackets, and does not check which bracket
    /// closes which.
    #[inline]
    fn skip(&mut self) -> Result<(), Invalid> {
        if self.depth <= 1 {
            return Ok(());
        }
        let first = self.peek();
        self.take();
        match first {
            // The value itself has been counted.
            b'[' | b'{' | b':' | b',' => {}
            // A string before a colon counts as a key.
            b'"' if self.peek() == b':' => self.take(),
            _ => {
                self.depth -= 1;
                if self.depth <= 1 {
                    return Ok(());
                }
            }
        }
        self.skip_to_close()
    }

    /// Skips to behind the bracket that leads to depth 1.
    fn skip_to_close(&mut self) -> Result<(), Invalid> {
        let mut depth = self.depth;
        let mut next_rest = self.rest;
        let blocks = self.blocks.get(self.block..).unwrap_or_default();
        for (ahead, block) in blocks.iter().enumerate() {
            let rest = core::mem::replace(&mut next_rest, u64::MAX);
            let opens = block.opens & rest;
            let mut closes = block.closes & rest;
            if opens | closes == 0 {
                continue;
            }
            // With fewer closing brackets it cannot be in this block, whatever their order.
            let close_count = count(closes);
            if close_count >= depth - 1 {
                for number in 1..=close_count {
                    let through = closes ^ (closes - 1);
                    closes &= closes - 1;
                    if depth + count(opens & through) - number <= 1 {
                        self.depth = 1;
                        self.block += ahead;
                        self.keep(block.parts & rest & !through);
                        return Ok(());
                    }
                }
            }
            depth = depth + count(opens) - close_count;
        }
        self.go_to_block(self.blocks.len());
        Err(self.invalid("a closing brace or bracket is missing"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_oneof, proptest};
    use proptest::sample::select;

    use super::*;

    type Indexed = Result<Vec<Block>, Invalid>;

    /// The offsets of the parts in masks, to compare with the reference.
    fn offsets(blocks: &[Block], of: fn(&Block) -> u64) -> Vec<usize> {
        let is_set = |offset: &usize| of(&blocks[offset / LENGTH]) >> (offset % LENGTH) & 1 != 0;
        (0..blocks.len() * LENGTH).filter(is_set).collect()
    }

    fn compare(bytes: &[u8], found: &Indexed) {
        let (parts, blocks) = match (reference::index(bytes), found) {
            (Ok(parts), Ok(blocks)) => (parts, blocks),
            (parts, found) => return assert_eq!(parts.err(), found.clone().err()),
        };
        let those = |which: &[u8]| -> Vec<usize> {
            let is_one = |offset: &usize| which.contains(&bytes[*offset]);
            parts.iter().copied().filter(is_one).collect()
        };
        assert_eq!(offsets(blocks, |block| block.parts), parts);
        assert_eq!(offsets(blocks, |block| block.opens), those(b"[{"));
        assert_eq!(offsets(blocks, |block| block.closes), those(b"]}"));
    }

    fn compare_all(bytes: &[u8]) {
        compare(bytes, &index(bytes));
        let mut scan = Scan::default();
        let blocks = scan.index(bytes, classify::classify_plain);
        compare(bytes, &scan.finish(bytes, blocks));
        let mut scan = Scan::default();
        let blocks = scan.index(bytes, classify);
        compare(bytes, &scan.finish(bytes, blocks));
    }

    #[test]
    fn signs_around_block_borders_are_found() {
        let signs: &[&[u8]] = &[
            b"\\",
            b"\"",
            b"\"\"",
            b"a",
            b"\\\"",
            b"\"\\\\\"",
            b"{",
            b"\x0c",
            b"\x1a",
            b"\n",
            b"\xff",
            "ü".as_bytes(),
        ];
        let everywhere = std::env::var_os("SMALLFRY_TEST_ALL").is_some();
        let is_near_border = |place: usize| (place + 4) % LENGTH < 8;
        for length in [63, 64, 65, 127, 128, 129, 200] {
            for filling in *b" a,\\" {
                for sign in signs {
                    for place in (0..length).filter(|place| everywhere || is_near_border(*place)) {
                        let mut bytes = vec![filling; length];
                        bytes.splice(place..place, sign.iter().copied());
                        compare_all(&bytes);
                        bytes.insert(0, b'"');
                        bytes.push(b'"');
                        compare_all(&bytes);
                    }
                }
            }
        }
    }

    /// The signs of JSON, more often than other bytes, and runs that cross borders of blocks.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let run = |byte: u8| (1_usize..70).prop_map(move |count| vec![byte; count]);
        let piece = prop_oneof![
            8 => select(&b"\"\"\"\\\\{}[]:,  \n\tax1"[..]).prop_map(|byte| vec![byte]),
            2 => select(&["\"a\"", "\"\\\"\"", "\\\\\\", "ü", "€"][..]).prop_map(Vec::from),
            1 => run(b'\\'),
            1 => run(b'a'),
            1 => run(b' '),
            1 => any::<u8>().prop_map(|byte| vec![byte & 0x3F]),
        ];
        vec(piece, 0..200).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn masks_agree_with_the_reference(mut bytes in pieces(), indent in 0..LENGTH) {
            bytes.splice(0..0, vec![b' '; indent]);
            compare_all(&bytes);
            bytes.push(b'"');
            compare_all(&bytes);
        }
    }
}
