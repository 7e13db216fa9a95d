//! The threads on which smallfry can close in this build: only its own.

use crate::Backend;
use smallfry::close::Backend as Theirs;
use std::io;

pub(crate) const OTHERS: &[Backend] = &[];

pub(crate) fn of(backend: Backend) -> io::Result<Theirs> {
    match backend {
        Backend::Threads => Ok(Theirs::Threads),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
