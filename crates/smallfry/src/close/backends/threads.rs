//! Threads of smallfry.

use std::io;
use std::sync::Arc;
use std::thread;

use crate::close::closer::{Line, Shared};
use crate::close::queue::Workers;

/// Enough to close a file and to run a sink. In bytes.
const STACK: usize = 256 << 10;

/// Starts a thread that closes what waits, until nothing has come for a while.
pub(in crate::close) fn spawn(closer: &Arc<Shared>, line: Line, crew: Workers) -> io::Result<()> {
    let closer = Arc::clone(closer);
    thread::Builder::new()
        .name("smallfry close".into())
        .stack_size(STACK)
        .spawn(move || closer.run_thread(line, crew))
        .map(drop)
}
