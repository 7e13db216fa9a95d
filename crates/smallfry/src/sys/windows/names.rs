//! Windows: names of entries, and the parts of paths.

use std::ffi::{OsStr, OsString};
#[cfg(any(feature = "archive", feature = "hash"))]
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf, Prefix};

use windows_sys::Win32::Foundation::ERROR_INVALID_NAME;

use super::nt::code;
use crate::errno::Errno;

/// The name of an entry.
pub(crate) type Name = OsStr;
/// A [`Name`] of its own.
pub(crate) type OwnedName = OsString;

/// Returns the name as a part of a path.
pub(crate) fn as_path(name: &Name) -> &Path {
    Path::new(name)
}

/// Returns the bytes of a path in UTF-8. A path that has none is refused with `InvalidInput`.
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) fn bytes_of(path: &Path) -> io::Result<&[u8]> {
    path.to_str()
        .map(str::as_bytes)
        .ok_or_else(|| invalid("the name is not Unicode"))
}

/// Takes the bytes of a name in an archive for a path. One that is not UTF-8, or that has a
/// backslash, is refused with `InvalidInput`.
#[cfg(feature = "archive")]
pub(crate) fn path_from(bytes: &[u8]) -> io::Result<&Path> {
    let name = std::str::from_utf8(bytes).map_err(|_| invalid("the name is not UTF-8"))?;
    if name.contains('\\') {
        let reason = "the name has a backslash, which Windows takes for a separator";
        return Err(invalid(reason));
    }
    Ok(Path::new(name))
}

#[cfg(any(feature = "archive", feature = "hash"))]
#[cold]
fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// Makes a name; `None` for one with a NUL.
pub(crate) fn name_of(name: &OsStr) -> Option<OwnedName> {
    (!name.as_encoded_bytes().contains(&0)).then(|| name.to_owned())
}

/// Returns a name as the kernel takes it. One that would be a path, or that of a stream of a file,
/// is refused.
pub(super) fn wide(name: &Name) -> Result<Vec<u16>, Errno> {
    let bytes = name.as_encoded_bytes();
    let is_name = !matches!(bytes, b"" | b"." | b"..")
        && !bytes
            .iter()
            .any(|byte| matches!(byte, 0 | b'\\' | b'/' | b':'));
    if is_name {
        Ok(name.encode_wide().collect())
    } else {
        Err(code(ERROR_INVALID_NAME))
    }
}

/// Returns the last name of a path; `None` if it ends in `.` or `..`, is a root or a prefix, or
/// leads to a device.
///
/// Dots and spaces at its end are not part of the name, as everywhere in Win32, unless the path
/// begins with `\\?\`.
pub(crate) fn last_name(path: &Path) -> Option<OwnedName> {
    let (is_verbatim, rest) = without_prefix(path);
    let is_separator = |byte: &u8| is_separator(*byte, is_verbatim);
    let end = rest.iter().rposition(|byte| !is_separator(byte))? + 1;
    let last = rest[..end].rsplit(is_separator).next()?;
    if is_verbatim {
        return match last {
            b"." | b".." => None,
            _ => name_of(path.file_name()?),
        };
    }
    // `...` is the directory itself, as `.` is.
    if last.iter().all(|byte| matches!(byte, b'.' | b' ')) || is_device(path) {
        return None;
    }
    let mut name: Vec<u16> = path.file_name()?.encode_wide().collect();
    while name.ends_with(&[u16::from(b'.')]) || name.ends_with(&[u16::from(b' ')]) {
        name.pop();
    }
    name_of(&OsString::from_wide(&name))
}

/// Returns true if Win32 takes a path for that of a device, as `NUL`.
fn is_device(path: &Path) -> bool {
    std::path::absolute(path).is_ok_and(|absolute| {
        let prefix = absolute.components().next();
        matches!(prefix, Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::DeviceNS(_)))
    })
}

/// Returns the directory that the last name of a path is in, empty for the current one; the path
/// itself if it has no last name.
pub(crate) fn start_of(path: &Path) -> PathBuf {
    if last_name(path).is_none() {
        return path.to_owned();
    }
    match path.parent() {
        Some(parent) => parent.to_owned(),
        None => PathBuf::new(),
    }
}

/// Returns true for a path that can only be that of a directory, since a separator is at its end.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    let (is_verbatim, rest) = without_prefix(path);
    rest.last()
        .is_some_and(|&byte| is_separator(byte, is_verbatim))
}

/// Returns whether a path begins with `\\?\`, and what follows its prefix.
fn without_prefix(path: &Path) -> (bool, &[u8]) {
    let bytes = path.as_os_str().as_encoded_bytes();
    match path.components().next() {
        Some(Component::Prefix(prefix)) => {
            let length = prefix.as_os_str().as_encoded_bytes().len();
            (
                prefix.kind().is_verbatim(),
                bytes.get(length..).unwrap_or_default(),
            )
        }
        _ => (false, bytes),
    }
}

fn is_separator(byte: u8, is_verbatim: bool) -> bool {
    byte == b'\\' || byte == b'/' && !is_verbatim
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_name_is_none_for_dots_roots_and_devices() {
        for path in [
            "",
            ".",
            "..",
            "a/.",
            r"a\..",
            r"a\b\..\",
            "a/./",
            "/",
            r"\",
            r"\\",
            "C:",
            r"C:\",
            "C:/",
            r"C:.",
            r"C:..",
            r"\\?\C:",
            r"\\?\C:\",
            r"\\?\C:\.",
            r"\\?\C:\a\..",
            r"\\server\share",
            r"\\server\share\",
            r"\\?\UNC\server\share\",
            r"\\.\C:",
            r"\\.\C:\",
            "...",
            r"a\. .",
            r"a\...",
            " ",
            "NUL",
            r"a\ ",
            "a\0b",
            r"\\.\pipe\a",
        ] {
            assert_eq!(last_name(Path::new(path)), None, "{path}");
            assert_eq!(start_of(Path::new(path)), Path::new(path), "{path}");
        }
    }

    #[test]
    fn last_name_and_start_of_split_a_path() {
        for (path, start, name) in [
            ("a", "", "a"),
            ("a/", "", "a"),
            (r"a\b", "a", "b"),
            (r"a/b\\", "a", "b"),
            (r"C:\a", r"C:\", "a"),
            ("C:a", "C:", "a"),
            (r"C:a\b", r"C:a", "b"),
            (r"\\?\C:\a", r"\\?\C:\", "a"),
            (r"\\?\C:\a\b. ", r"\\?\C:\a", "b. "),
            (r"\\server\share\a", r"\\server\share\", "a"),
            (r"..\a. .", "..", "a"),
            (r".a..b", "", ".a..b"),
            ("\u{9b5a}\u{e4}", "", "\u{9b5a}\u{e4}"),
        ] {
            let path = Path::new(path);
            assert_eq!(last_name(path), Some(name.into()), "{}", path.display());
            assert_eq!(start_of(path), Path::new(start), "{}", path.display());
        }
    }

    #[test]
    fn ends_in_separator_knows_both_separators() {
        for path in ["a/", r"a\", r"\\?\C:\a\", r"C:\"] {
            assert!(ends_in_separator(Path::new(path)), "{path}");
        }
        for path in ["", "a", r"a\b", r"\\?\C:\a/", "C:"] {
            assert!(!ends_in_separator(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn wide_keeps_what_is_no_unicode_and_refuses_paths_and_streams() {
        let lone = [0x61, 0xd800, 0x62];
        assert_eq!(wide(&OsString::from_wide(&lone)), Ok(lone.to_vec()));
        for name in ["", ".", "..", r"a\b", "a/b", "a:b", "a\0"] {
            assert_eq!(
                wide(OsStr::new(name)),
                Err(code(ERROR_INVALID_NAME)),
                "{name}"
            );
        }
        for name in ["...", "a.", " ", "con"] {
            assert!(wide(OsStr::new(name)).is_ok(), "{name}");
        }
    }
}
