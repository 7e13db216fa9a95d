//! Strings as JSON writes them.
//!
//! [RFC 8259, 7](https://www.rfc-editor.org/rfc/rfc8259#section-7)

/// The text of a string, given what is behind its first quotation mark; `None` for an escape that is none, half a surrogate pair
/// among them. Where there is none to take back it is copied at once.
pub(crate) fn unescape(string: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    let mut rest = string;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        text.extend_from_slice(&rest[..end]);
        if rest[end] == b'"' {
            // Of UTF-8, cut at ASCII, with whole characters added.
            return String::from_utf8(text).ok();
        }
        let escape = *rest.get(end + 1)?;
        rest = &rest[end + 2..];
        text.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, behind) = unicode(rest)?;
                rest = behind;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        });
    }
}

/// The character of `\u`, given what is behind that, and what is behind it.
fn unicode(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = unit(rest)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = unit(rest.strip_prefix(b"\\u")?)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    Some((char::from_u32(code)?, rest))
}

/// Four hexadecimal digits.
fn unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let digit = |number: u32, byte: &u8| Some(number << 4 | char::from(*byte).to_digit(16)?);
    Some((digits.iter().try_fold(0, digit)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (string, text) in [
            (r#"" "#, Some("")),
            (r#"aü"b"#, Some("aü")),
            (r#"\"\\\/\b\f\n\r\t""#, Some("\"\\/\u{8}\u{c}\n\r\t")),
            (r#"\u0041\u00fc\u20ac\ud83d\ude00""#, Some("Aü€😀")),
            (r#"\ud83d""#, None),
            (r#"\ud83d\u0041""#, None),
            (r#"\ude00""#, None),
            (r#"\u12""#, None),
            (r#"\u+123""#, None),
            (r#"\q""#, None),
            ("\\", None),
            ("a", None),
        ] {
            assert_eq!(unescape(string.as_bytes()).as_deref(), text, "{string}");
        }
    }
}
