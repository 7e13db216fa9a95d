//! Rows in Rust: this binary, started again as `smallfry driver`, so that each has its own process.

pub(crate) mod bulk;
#[cfg(not(feature = "peers"))]
#[path = "no_peers.rs"]
pub(crate) mod peers;
#[cfg(feature = "peers")]
pub(crate) mod peers;
pub(crate) mod raw;
pub(crate) mod share;
pub(crate) mod usage;

pub(crate) use peers::BUILT as PEERS_BUILT;

use super::protocol::PeerFailure;
use crate::bench::child::this_program;
use crate::bench::failure::Failure;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "driver";

pub(super) fn command() -> Result<Command, Failure> {
    let mut command = super::clean(this_program()?);
    command.arg(SUBCOMMAND);
    Ok(command)
}

/// Returns a function for `map_err` that names the operation and the path.
pub(crate) fn failed<E: Into<io::Error>>(
    operation: &'static str,
    path: impl AsRef<Path>,
) -> impl FnOnce(E) -> PeerFailure {
    move |error| {
        let error = error.into();
        PeerFailure {
            operation: operation.to_owned(),
            path: Some(path.as_ref().display().to_string()),
            code: code(&error).map(str::to_owned),
            message: error.to_string(),
        }
    }
}

/// Returns the errno's name, as far as [`PeerFailure::is_the_directory`] asks for it.
fn code(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull => return Some("ENOSPC"),
        io::ErrorKind::QuotaExceeded => return Some("EDQUOT"),
        io::ErrorKind::ReadOnlyFilesystem => return Some("EROFS"),
        io::ErrorKind::StaleNetworkFileHandle => return Some("ESTALE"),
        _ => {}
    }
    #[cfg(unix)]
    match error.raw_os_error() {
        Some(libc::EIO) => return Some("EIO"),
        Some(libc::ENODEV) => return Some("ENODEV"),
        _ => {}
    }
    None
}

/// Flushes the directory, except on Windows, which has no call for that.
pub(crate) fn flush_directory(directory: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(directory)?.sync_all()
}
