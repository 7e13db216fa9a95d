//! Threads of smallfry.

use std::io;

use smallfry_workers::start_thread;

/// Starts a thread that runs `serve`.
pub(in crate::closer) fn spawn(serve: impl FnOnce() + Send + 'static) -> io::Result<()> {
    start_thread("smallfry close", serve).map(drop)
}
