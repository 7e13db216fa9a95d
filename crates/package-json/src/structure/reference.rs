//! The same index, computed byte by byte, for comparison.

use crate::invalid::Invalid;

/// The offset of each part.
pub(super) fn index(bytes: &[u8]) -> Result<Vec<usize>, Invalid> {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(Invalid::at(bytes, error.valid_up_to(), "not UTF-8"));
    }
    let mut parts = Vec::with_capacity(bytes.len() / 6);
    // The quotation mark that began the open string.
    let mut string = None;
    let mut is_escaped = false;
    // After a number, a word or anything else outside strings.
    let mut is_after_word = false;
    for (offset, &byte) in bytes.iter().enumerate() {
        // Even outside strings.
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
            // On x86-64 two control characters count as signs, which makes them errors wherever
            // something else is expected.
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
