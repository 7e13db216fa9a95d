//! Threads of smallfry.

use std::io;
use std::thread;

/// The stack of a thread in bytes: enough to close a file and to run a sink.
const STACK: usize = 256 << 10;

/// Starts a thread that runs `serve`.
pub(in crate::closer) fn spawn(serve: impl FnOnce() + Send + 'static) -> io::Result<()> {
    if !smallfry_workers::may_start_threads() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    thread::Builder::new()
        .name("smallfry close".into())
        .stack_size(STACK)
        .spawn(serve)
        .map(drop)
}
