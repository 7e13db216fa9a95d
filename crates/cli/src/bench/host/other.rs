//! The facts that the standard library knows, without /proc.

use super::FileSystem;
use std::path::{Path, PathBuf};

pub(super) fn kernel() -> Option<String> {
    None
}

pub(super) fn cpu() -> Option<String> {
    None
}

pub(super) fn memory() -> Option<u64> {
    None
}

pub(super) fn memory_limit() -> Option<u64> {
    None
}

pub(super) fn load_average() -> Option<f64> {
    None
}

pub(super) fn transparent_huge_pages() -> Option<String> {
    None
}

pub(super) fn file_system(directory: PathBuf) -> FileSystem {
    FileSystem {
        directory,
        kind: "unknown".to_owned(),
        ..FileSystem::default()
    }
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn flush_all(_: &Path) -> std::io::Result<()> {
    Ok(())
}

pub(super) fn free_inodes(_: &Path) -> Option<u64> {
    None
}

pub(super) mod cache {
    //! The page cache is not known here.

    use std::io;
    use std::path::Path;

    pub(in crate::bench::host) fn drop_all(_: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::bench::host) fn pages(_: &Path) -> io::Result<(usize, usize)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
