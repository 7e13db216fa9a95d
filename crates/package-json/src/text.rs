//! Strings of JSON.
//!
//! [RFC 8259, 7](https://www.rfc-editor.org/rfc/rfc8259#section-7)

use std::borrow::Cow;

/// Decodes the text between the quotation marks of a string. `None`: an escape is wrong, or is half
/// a surrogate pair.
pub(crate) fn unescape(string: &[u8]) -> Option<Cow<'_, str>> {
    // The text is UTF-8 and was cut at ASCII.
    let string = std::str::from_utf8(string).ok()?;
    let Some((before, mut rest)) = string.split_once('\\') else {
        return Some(Cow::Borrowed(string));
    };
    let mut text = String::with_capacity(string.len());
    text.push_str(before);
    loop {
        let (character, behind) = escape(rest)?;
        text.push(character);
        let Some((before, next)) = behind.split_once('\\') else {
            text.push_str(behind);
            return Some(Cow::Owned(text));
        };
        text.push_str(before);
        rest = next;
    }
}

/// Decodes an escape, given the text after the backslash. Returns its character and the rest.
fn escape(rest: &str) -> Option<(char, &str)> {
    let mut behind = rest.chars();
    let character = match behind.next()? {
        same @ ('"' | '\\' | '/') => same,
        'b' => '\x08',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode(behind.as_str()),
        _ => return None,
    };
    Some((character, behind.as_str()))
}

/// Decodes `\u`, given the text after it. Returns its character and the rest.
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

/// Takes four hexadecimal digits.
fn unit(rest: &str) -> Option<(u32, &str)> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let digit = |number: u32, digit: char| Some(number << 4 | digit.to_digit(16)?);
    Some((digits.chars().try_fold(0, digit)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_wrong_ones_refused() {
        for (string, text) in [
            ("", Some("")),
            ("aü", Some("aü")),
            (r#"\"\\\/\b\f\n\r\t"#, Some("\"\\/\u{8}\u{c}\n\r\t")),
            (r"\u0041\u00fc\u20ac\ud83d\ude00", Some("Aü€😀")),
            (r"\ud83d", None),
            (r"\ud83d\u0041", None),
            (r"\ude00", None),
            (r"\u12", None),
            (r"\u+123", None),
            (r"\q", None),
            ("\\", None),
        ] {
            assert_eq!(unescape(string.as_bytes()).as_deref(), text, "{string}");
        }
    }
}
