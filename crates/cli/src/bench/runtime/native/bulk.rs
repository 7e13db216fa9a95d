//! smallfry's bulk calls, as the rows make them.

use crate::bench::runtime::protocol::Threads;
use smallfry::bulk::{Reader, Strategy, Writer};
use std::io;
use std::path::{Path, PathBuf};

pub(super) use smallfry::bulk::Bytes;

fn strategy(threads: Threads) -> Strategy {
    match threads {
        Threads::Auto => Strategy::Auto,
        Threads::CallingThread => Strategy::CallingThread,
        Threads::Fixed(count) => Strategy::Threads(count),
    }
}

/// Contents in the order of `paths`, each handed on as it comes.
pub(super) fn read(
    paths: &[PathBuf],
    threads: Threads,
    mut each: impl FnMut(Bytes) -> io::Result<()>,
) -> io::Result<()> {
    for (_, contents) in Reader::new().strategy(strategy(threads)).read(paths) {
        each(contents?)?;
    }
    Ok(())
}

/// Stops at nothing; then tells of the first failure.
pub(super) fn write<P: AsRef<Path> + Send, B: AsRef<[u8]> + Send>(
    entries: impl IntoIterator<Item = (P, B)>,
    threads: Threads,
) -> io::Result<()> {
    let report = Writer::new().strategy(strategy(threads)).write(entries);
    match report.into_results().into_iter().find_map(Result::err) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
