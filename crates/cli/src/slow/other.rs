//! Systems without mounts, where there is nothing to watch.

use std::io;
use std::process::Command;

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn when_orphaned(_: Option<u32>, _: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Ok(())
}

pub(super) fn raise_descriptor_limit() {}

pub(crate) fn apart(_: &mut Command) {}
