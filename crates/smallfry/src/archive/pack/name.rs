//! The names of entries, as an archive has them.

use std::borrow::Cow;
use std::io;
use std::path::{MAIN_SEPARATOR, Path};

use crate::sys;

/// Returns the bytes of a path, with slashes between its names.
pub(super) fn bytes_of(path: &Path) -> io::Result<Cow<'_, [u8]>> {
    let bytes = sys::bytes_of(path)?;
    if MAIN_SEPARATOR == '/' {
        return Ok(bytes.into());
    }
    let slashed = bytes.iter().map(|&byte| match char::from(byte) {
        MAIN_SEPARATOR => b'/',
        _ => byte,
    });
    Ok(slashed.collect::<Vec<_>>().into())
}
