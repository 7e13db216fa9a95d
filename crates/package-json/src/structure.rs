//! Where the parts of a JSON text begin: brackets, braces, colons, commas, and the first character of each string, number and word.
//!
//! As Node's parser (simdjson, its stage 1 and On-Demand) has it, with its leniency: what is between two such places is not looked
//! at until somebody wants it, and skipping a value only counts brackets. Unlike there the masks of stage 1 are kept as they are,
//! not turned to a list of offsets: most parts are passed over, and where 64 bytes have no bracket, that takes one look.
//!
//! Langdale, Lemire: *Parsing Gigabytes of JSON per Second*, VLDB Journal 28(6), 2019, <https://arxiv.org/abs/1902.08318>;
//! Keiser, Lemire: *On-Demand JSON: A Better Way to Parse Documents?*, 2023, <https://arxiv.org/abs/2312.17149>.

mod classify;
#[cfg(test)]
mod reference;

use self::classify::{Classes, LENGTH, classify};
use crate::invalid::Invalid;

/// What begins where in [`LENGTH`] bytes, the first of which is the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    parts: u64,
    /// Those parts that are `{` or `[`.
    opens: u64,
    /// Those parts that are `}` or `]`.
    closes: u64,
    /// Quotation marks at either end of a string.
    quotes: u64,
}

/// What a block hands on to the next, and what has been seen in any.
#[derive(Default)]
struct Scan {
    /// Whether the next character is: bit 0.
    is_escaped: u64,
    /// Whether the last one was of a number, a word or what else stands outside strings: bit 0.
    is_after_word: u64,
    /// All bits or none.
    is_in_string: u64,
    /// Not 0 if there are any.
    control_in_string: u64,
    is_beyond_ascii: bool,
}

impl Scan {
    /// The characters that a backslash is before, which is not escaped itself. Outside strings, too.
    fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        if backslash == 0 {
            return core::mem::take(&mut self.is_escaped);
        }
        // Of a run every other backslash escapes. What subtraction borrows goes through a run and ends with it, and leaves there
        // every other bit, from the run's first on; `ODD` makes it the same for runs that begin at an odd place.
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

    /// Goes through all bytes; what is missing in the last block is space.
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

    /// What can only be told at the end, if all is well.
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

    /// What is inlined here may use AVX2, too.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn index_avx2(&mut self, bytes: &[u8]) -> Vec<Block> {
        self.index(bytes, |block| classify::classify_avx2(block))
    }
}

/// Each bit and all below it, added without carry.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

fn count(of: u64) -> usize {
    of.count_ones() as usize
}

/// What begins where, of all of the text: of one that is UTF-8, whose strings end.
fn index(bytes: &[u8]) -> Result<Vec<Block>, Invalid> {
    let mut scan = Scan::default();
    #[cfg(target_arch = "x86_64")]
    let blocks = if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 is there, and nothing else is asked for.
        unsafe { scan.index_avx2(bytes) }
    } else {
        scan.index(bytes, classify)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let blocks = scan.index(bytes, classify);
    scan.finish(bytes, blocks)
}

/// Why there is a string that is none: goes through the bytes once more, to tell where.
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

/// Goes through the parts.
pub(crate) struct Walk<'text> {
    bytes: &'text [u8],
    blocks: Vec<Block>,
    /// The block of the next part; behind the last one at the end.
    block: usize,
    /// Of the parts of that block the next one and those behind it; 0 at the end.
    rest: u64,
    /// How deep the next part is: 1 between the members of the outermost object, 2 at the value of one.
    depth: usize,
}

impl<'text> Walk<'text> {
    /// To the first member of the outermost object; `None` if it is empty.
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

    /// The key of a member, as it is written, up to its value.
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

    /// From the value of a member, whatever of it was taken, to the next member. Whether there is one.
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

    /// The first byte of the next part; 0 at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.offset()).copied().unwrap_or(0)
    }

    /// The first byte of the last part; 0 if there is none.
    fn last(&self) -> u8 {
        let Some(number) = self.blocks.iter().rposition(|block| block.parts != 0) else {
            return 0;
        };
        self.bytes[number * LENGTH + self.blocks[number].parts.ilog2() as usize]
    }

    /// Takes a string: what is between its quotation marks.
    pub(crate) fn take_string(&mut self) -> &'text [u8] {
        let start = self.offset() + 1;
        // Of the quotation marks those behind its first one.
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

    /// To the first of these parts of the block, or else to the next block that has any.
    #[inline]
    fn keep(&mut self, rest: u64) {
        if rest == 0 {
            return self.go_to_block(self.block + 1);
        }
        self.rest = rest;
    }

    /// To the first part from there on.
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

    /// To behind the value of the member. Only counts: which bracket closes which nobody asks.
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
            // A string that a colon follows is taken for a key.
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

    /// To behind the bracket that leads to depth 1.
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
            // With fewer it cannot be in this block, in whatever order they are.
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

    /// What the parts of the reference come to in masks.
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
    fn a_sign_at_each_place_around_the_border_of_blocks() {
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
        for length in [63, 64, 65, 127, 128, 129, 200] {
            for filling in *b" a,\\" {
                for sign in signs {
                    for place in 0..length {
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

    /// JSON's signs, more often than others, and runs that reach over borders.
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
        fn masks_are_what_the_loop_finds(mut bytes in pieces(), indent in 0..LENGTH) {
            bytes.splice(0..0, vec![b' '; indent]);
            compare_all(&bytes);
            bytes.push(b'"');
            compare_all(&bytes);
        }
    }
}
