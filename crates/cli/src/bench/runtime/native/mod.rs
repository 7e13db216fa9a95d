//! Rows in Rust: this binary, started again as `smallfry driver`, so that each has its own process.

pub(crate) mod bulk;
#[cfg(feature = "peers")]
pub(crate) mod peers;
pub(crate) mod raw;
pub(crate) mod share;
pub(crate) mod usage;

use super::protocol::PeerFailure;
use std::fs::File;
use std::io;
use std::path::Path;

/// True if the rows that call other libraries are in this build.
pub(crate) const PEERS_BUILT: bool = cfg!(feature = "peers");

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "driver";

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
    Some(match error.kind() {
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::QuotaExceeded => "EDQUOT",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        io::ErrorKind::StaleNetworkFileHandle => "ESTALE",
        _ => match error.raw_os_error().filter(|_| cfg!(unix))? {
            libc::EIO => "EIO",
            libc::ENODEV => "ENODEV",
            _ => return None,
        },
    })
}

/// Flushes the directory, except on Windows, which has no call for that.
pub(crate) fn flush_directory(directory: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(directory)?.sync_all()
}
