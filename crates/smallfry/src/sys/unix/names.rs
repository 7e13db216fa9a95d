//! Unix: names of entries, and the parts of paths.

use std::ffi::{CStr, CString, OsStr};
#[cfg(any(feature = "archive", feature = "hash"))]
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of an entry, as system calls take it.
pub(crate) type Name = CStr;
/// A [`Name`] of its own.
pub(crate) type OwnedName = CString;

/// Returns the name as a part of a path.
pub(crate) fn as_path(name: &Name) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

/// Returns the bytes of a path.
#[cfg(any(feature = "archive", feature = "hash"))]
#[allow(
    clippy::unnecessary_wraps,
    reason = "not all paths are UTF-8 on Windows"
)]
pub(crate) fn bytes_of(path: &Path) -> io::Result<&[u8]> {
    Ok(path.as_os_str().as_bytes())
}

/// Takes the bytes of a name in an archive for a path.
#[cfg(feature = "archive")]
#[allow(
    clippy::unnecessary_wraps,
    reason = "not all bytes are a path on Windows"
)]
pub(crate) fn path_from(bytes: &[u8]) -> io::Result<&Path> {
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Makes a name; `None` for one with a NUL.
pub(crate) fn name_of(name: &OsStr) -> Option<OwnedName> {
    CString::new(name.as_bytes()).ok()
}

/// Returns the last name of a path; `None` if it ends in `.` or `..`, or is a root.
pub(crate) fn last_name(path: &Path) -> Option<OwnedName> {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'/')? + 1;
    match bytes[..end].rsplit(|&byte| byte == b'/').next()? {
        b"." | b".." => None,
        name => name_of(OsStr::from_bytes(name)),
    }
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

/// Returns true for a path that can only be that of a directory, since a slash is at its end.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}
