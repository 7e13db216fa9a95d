//! Systems without /proc, of which only the standard library knows something.

use super::{FileSystem, Host};
use std::io;
use std::path::Path;

pub(super) fn machine() -> Host {
    Host::default()
}

pub(super) fn file_system(_: &Path) -> Option<FileSystem> {
    None
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn flush_all(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn free_inodes(_: &Path) -> Option<u64> {
    None
}

pub(crate) const fn spread_directories(_: &Path) {}

pub(crate) fn drop_cache(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn cached_pages(_: &Path) -> io::Result<(usize, usize)> {
    Err(io::ErrorKind::Unsupported.into())
}
