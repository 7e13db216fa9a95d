//! Strings as JSON writes them.
//!
//! [RFC 8259, 7](https://www.rfc-editor.org/rfc/rfc8259#section-7)

/// The text of a string, given what is behind its first quotation mark; `None` for an escape that is none, half a surrogate pair
/// among them. Where there is none to take back it is copied at once.
pub(crate) fn unescape(string: &str) -> Option<Box<str>> {
    let end_of_plain = |rest: &str| rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'));
    let plain = end_of_plain(string)?;
    if string.as_bytes()[plain] == b'"' {
        return Some(string[..plain].into());
    }
    let mut text = String::new();
    let mut rest = string;
    loop {
        let end = end_of_plain(rest)?;
        text.push_str(&rest[..end]);
        if rest.as_bytes()[end] == b'"' {
            return Some(text.into());
        }
        let mut characters = rest[end + 1..].chars();
        text.push(match characters.next()? {
            escape @ ('"' | '\\' | '/') => escape,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (character, behind) = unicode(characters.as_str())?;
                characters = behind.chars();
                character
            }
            _ => return None,
        });
        rest = characters.as_str();
    }
}

/// The character of `\u`, given what is behind that, and what is behind it.
fn unicode(rest: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(rest)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = unit(rest.strip_prefix("\\u")?)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    Some((char::from_u32(code)?, rest))
}

/// Four hexadecimal digits.
fn unit(rest: &str) -> Option<(u32, &str)> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let digit = |number: u32, digit: char| Some(number << 4 | digit.to_digit(16)?);
    Some((digits.chars().try_fold(0, digit)?, rest))
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
            assert_eq!(unescape(string).as_deref(), text, "{string}");
        }
    }
}
