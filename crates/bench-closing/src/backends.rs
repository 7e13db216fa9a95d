//! The threads on which smallfry can close in this build: those of every library.

use crate::Backend;
use smallfry::close::Backend as Theirs;
use std::io;

pub(crate) const OTHERS: &[Backend] = &[
    Backend::Rayon,
    Backend::Blocking,
    Backend::Smol,
    Backend::AsyncStd,
    Backend::Tokio,
];

#[expect(
    deprecated,
    reason = "the row for async-std stays as long as the backend"
)]
pub(crate) fn of(backend: Backend) -> io::Result<Theirs> {
    Ok(match backend {
        Backend::Threads => Theirs::Threads,
        Backend::Rayon => Theirs::Rayon,
        Backend::Blocking => Theirs::Blocking,
        Backend::Smol => Theirs::Smol,
        Backend::AsyncStd => Theirs::AsyncStd,
        Backend::Tokio => {
            enter_tokio()?;
            Theirs::Tokio
        }
    })
}

/// The thread that writes is inside a runtime from now on, as that of an application with tokio is.
fn enter_tokio() -> io::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    // Both live as long as the process, which does nothing else.
    let runtime: &'static _ = Box::leak(Box::new(runtime));
    std::mem::forget(runtime.enter());
    Ok(())
}
