//! Stands in for the crate `close_already`: what norad uses of it, with a choice of the way of
//! closing. A norad that uses more does not compile, which is better than half a comparison.

pub mod fs;

use smallfry_bench_closing::{Closing, Way};
use std::io;
use std::sync::OnceLock;

static CLOSING: OnceLock<Box<dyn Closing>> = OnceLock::new();

/// From now on files are closed that way. Once in a process.
pub fn choose(way: Way) -> io::Result<()> {
    CLOSING
        .set(way.start()?)
        .map_err(|_| io::Error::other("the way of closing is chosen already"))
}

/// Returns when all files are closed.
pub fn wait() -> io::Result<()> {
    chosen()?.wait()
}

fn chosen() -> io::Result<&'static dyn Closing> {
    let chosen = CLOSING.get().map(Box::as_ref);
    chosen.ok_or_else(|| io::Error::other("no way of closing is chosen"))
}
