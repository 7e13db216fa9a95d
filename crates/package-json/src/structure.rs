//! Where the parts of a JSON text begin: brackets, braces, colons, commas, and the first character of each string, number and word.
//!
//! As Node's parser (simdjson, its stage 1 and On-Demand) has it, with its leniency: what is between two such places is not looked
//! at until somebody wants it, and skipping a value only counts brackets.
//!
//! Langdale, Lemire: *Parsing Gigabytes of JSON per Second*, VLDB Journal 28(6), 2019, <https://arxiv.org/abs/1902.08318>;
//! Keiser, Lemire: *On-Demand JSON: A Better Way to Parse Documents?*, 2023, <https://arxiv.org/abs/2312.17149>.

use crate::Invalid;

/// The offset of each part.
pub(crate) fn index(bytes: &[u8]) -> Result<Vec<usize>, Invalid> {
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

/// Goes through the parts.
pub(crate) struct Walk<'text> {
    pub(crate) bytes: &'text [u8],
    parts: Vec<usize>,
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
        let last = walk.parts.last().copied().unwrap_or_default();
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
        next.copied().unwrap_or(self.bytes.len())
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
