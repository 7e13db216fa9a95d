//! smallfry's bulk calls, as the rows make them.

use crate::bench::runtime::protocol::Threads;
use std::io;
use std::path::{Path, PathBuf};

pub(super) type Bytes = Vec<u8>;

/// Contents in the order of `paths`, each handed on as it comes.
pub(super) fn read(
    paths: &[PathBuf],
    _threads: Threads,
    mut each: impl FnMut(Bytes) -> io::Result<()>,
) -> io::Result<()> {
    for path in paths {
        each(smallfry::fs::read(path)?)?;
    }
    Ok(())
}

/// Stops at nothing; then tells of the first failure.
pub(super) fn write<P: AsRef<Path>, B: AsRef<[u8]>>(
    entries: impl IntoIterator<Item = (P, B)>,
    _threads: Threads,
) -> io::Result<()> {
    for (path, bytes) in entries {
        smallfry::fs::write(path, bytes)?;
    }
    Ok(())
}
