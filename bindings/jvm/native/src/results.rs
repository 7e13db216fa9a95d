//! Results for Java, one behind the other in memory that Java reads through a direct buffer.
//!
//! All numbers have the byte order of the processor. An error is its kind (one byte), then the
//! operation, the reason, the path and the destination, each with its length in bytes before it.
//! Paths have the form in which Java passes them.

use crate::sys;
use jni::sys::jint;
use smallfry::Error;
use std::borrow::Cow;
use std::io::ErrorKind;

/// The kinds of errors, as `dev.smallfry.Failure` reads them.
#[repr(u8)]
enum Kind {
    Other,
    NotFound,
    AlreadyExists,
    AccessDenied,
    DirectoryNotEmpty,
    NotBegun,
}

/// Tells whether an error is `EACCES`. `EPERM` has the same kind in Rust, but Java has no
/// `AccessDeniedException` for it.
#[cfg(unix)]
fn is_access_denied(error: &Error) -> bool {
    error.raw_os_error() != Some(1)
}

#[cfg(not(unix))]
fn is_access_denied(_: &Error) -> bool {
    true
}

impl Kind {
    fn of(error: &Error) -> Self {
        match error.kind() {
            _ if error.is_cancelled() => Self::NotBegun,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists => Self::AlreadyExists,
            ErrorKind::PermissionDenied if is_access_denied(error) => Self::AccessDenied,
            ErrorKind::DirectoryNotEmpty => Self::DirectoryNotEmpty,
            _ => Self::Other,
        }
    }
}

/// Appends one error.
pub(crate) fn push_error(bytes: &mut Vec<u8>, error: &Error) {
    bytes.push(Kind::of(error) as u8);
    push_field(bytes, error.operation().name().as_bytes());
    push_field(bytes, error.io_error().to_string().as_bytes());
    for path in [error.path(), error.destination()] {
        push_field(bytes, &path.map_or_else(Cow::default, sys::bytes_of));
    }
}

/// Appends bytes, with their number before them.
pub(crate) fn push_field(bytes: &mut Vec<u8>, field: &[u8]) {
    push_number(bytes, field.len());
    bytes.extend_from_slice(field);
}

/// Converts a number to Java's `int`. Larger numbers were refused before.
pub(crate) fn int(number: usize) -> jint {
    jint::try_from(number).unwrap_or(jint::MAX)
}

/// Appends a number that Java reads as an `int`.
pub(crate) fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&int(number).to_ne_bytes());
}

/// Returns the bytes of one error.
pub(crate) fn error_alone(error: &Error) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_error(&mut bytes, error);
    bytes
}
