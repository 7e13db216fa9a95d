//! Without the feature `peers` these rows are left out, and nothing calls these functions.

use std::future::{Ready, ready};
use std::io;
use std::path::{Path, PathBuf};

/// True if they are in this build.
pub(crate) const BUILT: bool = false;

/// Stands for the crate `oxc_resolver`.
pub(crate) struct Oxc;

impl Oxc {
    pub(crate) fn new(_: Option<&[&Path]>) -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "the other one has something in it")]
    pub(crate) fn is_module(&self, _: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) fn rayon<T: Send>(
    _: &[PathBuf],
    _: impl Fn(usize, &Path) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn tokio<T: Send + Default + 'static, F>(
    _: &[PathBuf],
    _: impl Fn(usize, PathBuf) -> F,
) -> io::Result<Vec<T>>
where
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn tokio_read(_: PathBuf) -> Ready<io::Result<Vec<u8>>> {
    ready(Err(io::ErrorKind::Unsupported.into()))
}

pub(crate) fn tokio_read_to_string(_: PathBuf) -> Ready<io::Result<String>> {
    ready(Err(io::ErrorKind::Unsupported.into()))
}

pub(crate) fn tokio_write(_: PathBuf, _: Vec<u8>) -> Ready<io::Result<()>> {
    ready(Err(io::ErrorKind::Unsupported.into()))
}
