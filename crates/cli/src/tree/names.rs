//! Names as they are printed: quoted in the lines of `-v`, without control characters in messages,
//! and in JSON.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Quotes a path as `cp -v` does, so that a shell reads it.
pub(super) fn quoted(path: &Path) -> String {
    let mut text = String::from("'");
    let put_byte = |text: &mut String, byte: u8| _ = write!(text, "'$'\\{byte:03o}''");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\'' {
                text.push_str("'\\''");
            } else if character.is_control() {
                let mut bytes = [0; 4];
                for &byte in character.encode_utf8(&mut bytes).as_bytes() {
                    put_byte(&mut text, byte);
                }
            } else {
                text.push(character);
            }
        }
        for &byte in chunk.invalid() {
            put_byte(&mut text, byte);
        }
    }
    text.push('\'');
    text
}

/// Returns a JSON object with `path`. JSON has characters only, so a path that is not UTF-8 has
/// U+FFFD there, and its bytes in `path_bytes`.
pub(super) fn in_json(path: &Path) -> Value {
    let mut object = json!({ "path": path.to_string_lossy() });
    if path.to_str().is_none() {
        object["path_bytes"] = path.as_os_str().as_encoded_bytes().into();
    }
    object
}

/// Writes control characters as escapes, so that the names in a message cannot change the terminal
/// or forge another line.
pub(super) fn printable(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_has_no_control_characters() {
        let message = printable("copy a\nb\x1b]0;x\x07 to ä");
        assert_eq!(message, "copy a\\nb\\u{1b}]0;x\\u{7} to ä");
    }

    #[cfg(unix)]
    #[test]
    fn quoted_is_read_by_a_shell() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        for name in [
            &b"a b"[..],
            b"it's",
            b"two\nlines\x1b[1m",
            b"\xff\xfe",
            "ä".as_bytes(),
        ] {
            let quoted = quoted(Path::new(OsStr::from_bytes(name)));
            assert!(!quoted.contains(char::is_control), "{quoted}");
            let mut shell = std::process::Command::new("bash");
            let Ok(output) = shell.args(["-c", &format!("printf %s {quoted}")]).output() else {
                return;
            };
            assert_eq!(output.stdout, name, "{quoted}");
        }
    }
}
