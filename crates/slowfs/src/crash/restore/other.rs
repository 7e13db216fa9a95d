//! Systems other than Linux, where symbolic links and owners are not restored.

use std::io;
use std::path::Path;

pub(super) fn symbolic_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn change_owner(_: &Path, _: u32, _: u32) -> io::Result<()> {
    Ok(())
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn change_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
