//! Names that Windows reserves or alters, and names that differ only in case.
//!
//! Nothing here asks the system, so that tests on any system cover all of it.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

/// The characters that Windows allows in no name. A colon would write to another stream of the file
/// before it.
///
/// [Naming files](https://learn.microsoft.com/windows/win32/fileio/naming-a-file#naming-conventions)
const FORBIDDEN: &[char] = &['<', '>', ':', '"', '|', '?', '*'];

/// The names of devices without a number.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// The names of devices with a digit at the end, or with one of the superscripts `¹²³`.
const NUMBERED_DEVICES: &[&str] = &["COM", "LPT"];

/// Refuses a path with a name that Windows would take for another, with
/// [`io::ErrorKind::InvalidInput`].
pub(crate) fn check(path: &Path) -> io::Result<()> {
    for component in path.components() {
        if let Component::Normal(name) = component
            && let Some(reason) = refusal(name)
        {
            let reason = format!("the name `{}` {reason}", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
    }
    Ok(())
}

/// Returns why Windows would take a name for another; `None` if it does not.
fn refusal(name: &OsStr) -> Option<&'static str> {
    // Bytes that are not Unicode become a character that is none of those looked for.
    let name = name.to_string_lossy();
    if name.contains(|c| FORBIDDEN.contains(&c) || c < ' ') {
        return Some("has a character that Windows does not allow");
    }
    if name.ends_with(['.', ' ']) {
        return Some("ends in a dot or a space, which Windows drops");
    }
    is_device(&name).then_some("is that of a device on Windows")
}

/// Returns true if Windows opens a device under this name. The part from the first dot on does not
/// count, nor do spaces before it.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    if DEVICES
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device))
    {
        return true;
    }
    let mut characters = stem.chars();
    let number = characters.next_back();
    let device = characters.as_str();
    number.is_some_and(|c| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'))
        && NUMBERED_DEVICES
            .iter()
            .any(|numbered| device.eq_ignore_ascii_case(numbered))
}

/// Returns a key that is the same for two relative paths if a file system that ignores case takes
/// them for one.
///
/// Each letter equals its other case if that is one letter too. The key does not depend on the
/// volume, which may fold other characters. `ſ` equals `s`, as on macOS and not on Windows. `ß`
/// differs from `ss`, and a letter with an accent from the same made of two characters, unlike on
/// macOS. `a//b`, `a/./b` and `./a/b` are `a/b`.
pub(crate) fn case_key(path: &Path) -> Vec<u8> {
    let mut key = Vec::with_capacity(path.as_os_str().len());
    let names = path.components().filter(|name| *name != Component::CurDir);
    for component in names {
        if !key.is_empty() {
            key.push(b'/');
        }
        match component.as_os_str().to_str() {
            Some(name) => fold(name, &mut key),
            None => key.extend(
                component
                    .as_os_str()
                    .as_encoded_bytes()
                    .to_ascii_lowercase(),
            ),
        }
    }
    key
}

/// Adds the name to the key, each letter as one of its cases.
fn fold(name: &str, key: &mut Vec<u8>) {
    if name.is_ascii() {
        key.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        return;
    }
    for c in name.chars() {
        // First to upper case, then to lower: some letters have two small forms or two capital
        // ones.
        let upper = only(c.to_uppercase()).unwrap_or(c);
        let folded = only(upper.to_lowercase()).unwrap_or(upper);
        key.extend(folded.encode_utf8(&mut [0; 4]).bytes());
    }
}

/// Returns the character if there is just one.
fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_refuses_names_that_windows_reserves_or_alters() {
        for name in [
            "CON",
            "con",
            "nul",
            "NUL.txt",
            "aux.tar.gz",
            "Prn",
            "COM1",
            "com9.log",
            "LPT0",
            "lpt³",
            "COM¹.x",
            "CONIN$",
            "conout$",
            "nul .txt",
            "NUL  ",
            "a.",
            "a ",
            "...",
            "a:b",
            "a:",
            "C:",
            "a<",
            ">",
            "\"",
            "a|b",
            "what?",
            "*.md",
            "a\u{1}",
            "tab\t",
            "line\n",
        ] {
            // Text is joined here, since `Path::join` on Windows takes `C:` for a whole path.
            let path = format!("directory/{name}");
            let error = check(Path::new(&path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn check_accepts_names_that_only_look_reserved() {
        for path in [
            "",
            ".",
            "..",
            "../a",
            "./a/../b",
            "console",
            "CON1",
            "nula.txt",
            "a.con",
            "COM",
            "com10",
            "COMX",
            "LPT",
            ".nul",
            " con",
            "a b",
            ".hidden",
            "a..b",
            "é漢😀",
            "COM⁴",
            "CON$",
        ] {
            check(Path::new(path)).unwrap();
        }
        // The name of a device is refused as a directory too.
        check(Path::new("a/nul/b")).unwrap_err();
    }

    #[test]
    fn case_key_is_the_same_for_names_that_differ_only_in_case() {
        for (a, b) in [
            ("a/b.TXT", "A/B.txt"),
            ("É", "é"),
            ("Σ", "ς"),
            ("Ω", "\u{2126}"),
            ("k", "\u{212a}"),
            ("a//b/./c", "A/b/C"),
            ("./a", "A"),
            ("Ǆ", "ǆ"),
            ("ǅ", "ǆ"),
            ("Ⅷ", "ⅷ"),
        ] {
            assert_eq!(case_key(Path::new(a)), case_key(Path::new(b)), "{a} {b}");
        }
        for (a, b) in [
            ("a", "b"),
            ("a/b", "ab"),
            ("ß", "ss"),
            ("e", "é"),
            ("é", "e\u{301}"),
            ("a", "a/a"),
            ("ı", "ł"),
        ] {
            assert_ne!(case_key(Path::new(a)), case_key(Path::new(b)), "{a} {b}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn check_and_case_key_take_names_that_are_not_unicode() {
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        assert_eq!(case_key(path(b"A\xff")), case_key(path(b"a\xff")));
        assert_ne!(case_key(path(b"A\xfe")), case_key(path(b"a\xff")));
        check(path(b"A\xff")).unwrap();
        check(path(b"A\xff.")).unwrap_err();
    }
}
