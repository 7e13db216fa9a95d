//! What goes to Java: results one behind the other in memory that it reads through a direct buffer.
//!
//! All numbers are the processor's own. An error is its kind (one byte), then the operation, the reason, the path and the
//! destination, each with its length in bytes before it; paths as they come from Java.

use crate::sys;
use jni::sys::jint;
use smallfry::Error;
use std::borrow::Cow;
use std::io::ErrorKind;

/// As `dev.smallfry.Failure` knows them.
#[repr(u8)]
enum Kind {
    Other,
    NotFound,
    AlreadyExists,
    AccessDenied,
    DirectoryNotEmpty,
    NotBegun,
}

/// `EACCES`. Of `EPERM`, which has the same kind here, Java makes no `AccessDeniedException`.
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

fn push_field(bytes: &mut Vec<u8>, field: &[u8]) {
    push_number(bytes, field.len());
    bytes.extend_from_slice(field);
}

/// A number as Java's `int`. What is larger than that was refused before.
pub(crate) fn int(number: usize) -> jint {
    jint::try_from(number).unwrap_or(jint::MAX)
}

/// Appends a number that Java reads as an `int`.
pub(crate) fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&int(number).to_ne_bytes());
}

/// One error alone.
pub(crate) fn error_alone(error: &Error) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_error(&mut bytes, error);
    bytes
}
